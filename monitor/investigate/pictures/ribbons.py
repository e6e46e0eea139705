"""An optimal transport: which baseline sentence went where, how much of it, and how far.

Baseline sentences stand on the left, those of the perturbed summary on the right; a ribbon is
as thick as the mass that it moves, and coloured (and numbered) by its cost. Two forms: with the
sentences written beside it, and with their numbers only, for narrow screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from monitor.investigate.pictures.svg import element, picture, text

COSTS = (0.2, 0.4, 0.6, 0.9, 1.2)
"""Limits between the six colours; two unit vectors without anything in common cost √2."""
MAX_SENTENCES = 24
"""More on one side are drawn nowhere: the table has them."""
_ROW = 54.0
_FILL = 0.78
"""Share of the height that the mass takes; the rest keeps sentences apart."""
_LINE_CHARACTERS, _LINES = 40, 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """Mass of one baseline sentence that goes to one sentence of the perturbed summary."""

    source: int
    target: int
    mass: float
    cost: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Frame:
    width: float
    left: float
    """Where ribbons begin …"""
    right: float
    """… and end."""
    height: float
    texts: bool


def cost_class(cost: float) -> int:
    """Which of the six colours: 0 stayed where it was, 5 has nothing in common.

    >>> [cost_class(cost) for cost in (0.0, 0.2, 0.5, 1.4)]
    [0, 1, 2, 5]
    """
    return sum(cost >= limit for limit in COSTS)


def ribbons(
    moves: Sequence[Move],
    sources: Sequence[str | None],
    targets: Sequence[str | None],
    *,
    id: str,
    title: str,
    narrow: bool = False,
) -> Markup | None:
    """The picture; None where there are too many sentences for one.

    `sources` and `targets` are the sentences, None where their texts are not kept.
    """
    if max(len(sources), len(targets)) > MAX_SENTENCES:
        return None
    row = 30.0 if narrow else _ROW
    height = row * max(len(sources), len(targets), 1)
    frame = (
        _Frame(width=320, left=34, right=286, height=height, texts=False)
        if narrow
        else _Frame(width=860, left=300, right=560, height=height, texts=True)
    )
    thickness = height * _FILL
    starts = _tops(moves, sources, targets, frame, thickness)
    parts = [
        _ribbon(move, *starts[index], frame, thickness, sources, targets)
        for index, move in enumerate(moves)
    ]
    parts += _side(sources, "B", frame, thickness, left=True)
    parts += _side(targets, "P", frame, thickness, left=False)
    return picture(
        parts,
        id=id,
        size=(frame.width, height),
        title=title,
        description=_told(moves),
        class_="ribbons narrow" if narrow else "ribbons wide",
    )


def _tops(
    moves: Sequence[Move],
    sources: Sequence[str | None],
    targets: Sequence[str | None],
    frame: _Frame,
    thickness: float,
) -> list[tuple[float, float]]:
    """Upper ends of every ribbon, stacked within its sentences without crossing there."""
    at = [(0.0, 0.0)] * len(moves)
    for side, count in ((0, len(sources)), (1, len(targets))):
        fill = [_top(index, count, frame.height, thickness) for index in range(count)]
        order = sorted(
            range(len(moves)),
            key=lambda i: (
                (moves[i].source, moves[i].target)
                if side == 0
                else (moves[i].target, moves[i].source)
            ),
        )
        for index in order:
            place = moves[index].source if side == 0 else moves[index].target
            top = fill[place]
            fill[place] += moves[index].mass * thickness
            at[index] = (top, at[index][1]) if side == 0 else (at[index][0], top)
    return at


def _top(index: int, count: int, height: float, thickness: float) -> float:
    slot = height / count
    return index * slot + (slot - thickness / count) / 2


def _ribbon(
    move: Move,
    start: float,
    end: float,
    frame: _Frame,
    thickness: float,
    sources: Sequence[str | None],
    targets: Sequence[str | None],
) -> Markup:
    thick = max(move.mass * thickness, 1.0)
    a, b, middle = frame.left, frame.right, (frame.left + frame.right) / 2
    path = (
        f"M{a:.1f} {start:.1f}C{middle:.1f} {start:.1f} {middle:.1f} {end:.1f} {b:.1f} {end:.1f}"
        f"v{thick:.1f}C{middle:.1f} {end + thick:.1f} {middle:.1f} {start + thick:.1f} "
        f"{a:.1f} {start + thick:.1f}z"
    )
    told = (
        f"{move.mass:.0%} of the mass, cost {move.cost:.3f}: "
        f"{_cut(sources[move.source], 'B', move.source)} → "
        f"{_cut(targets[move.target], 'P', move.target)}"
    )
    parts = [
        element("title", told),
        element("path", class_=f"cost c{cost_class(move.cost)}", d=path),
    ]
    if thick >= 12:
        # Nearer to its beginning than to the middle, where ribbons cross.
        x, y = a + (b - a) * 0.2, start + (end - start) * 0.104 + thick / 2 + 4
        label = text(f"{move.cost:.2f}", x, y, class_="cost-label", anchor="middle")
        parts.append(label)
    return element("g", *parts)


def _side(
    sentences: Sequence[str | None], letter: str, frame: _Frame, thickness: float, *, left: bool
) -> list[Markup]:
    parts = []
    for index, sentence in enumerate(sentences):
        top = _top(index, len(sentences), frame.height, thickness)
        tall = thickness / len(sentences)
        edge = frame.left - 5 if left else frame.right
        parts.append(element("rect", class_="node", x=edge, y=top, width=5, height=tall))
        anchor = "end" if left else "start"
        x = edge - 6 if left else edge + 11
        lines = [f"{letter}{index + 1}"]
        if frame.texts:
            room = max(1, min(_LINES, int(frame.height / len(sentences) / 15)))
            words = wrapped(sentence if sentence is not None else "(text not shown)", room)
            lines = [f"{letter}{index + 1}  {words[0]}", *words[1:]]
        first = top + tall / 2 + 4 - 7.5 * (len(lines) - 1)
        parts += [
            text(words, x, first + 15 * number, class_="sentence", anchor=anchor)
            for number, words in enumerate(lines)
        ]
    return parts


def wrapped(sentence: str, lines: int, width: int = _LINE_CHARACTERS) -> list[str]:
    """A sentence in at most so many lines, the last one cut; long words are broken.

    >>> wrapped("one two three", 2, 7)
    ['one two', 'three']
    >>> wrapped("abcdefghij klm", 2, 5)
    ['abcde', 'fghi…']
    """
    rows = [""]
    for word in sentence[: width * (lines + 2)].split():
        rest = word
        while rest:
            joined = f"{rows[-1]} {rest}".strip()
            if len(joined) <= width:
                rows[-1], rest = joined, ""
            elif rows[-1]:
                rows.append("")
            else:
                rows[-1], rest = rest[:width], rest[width:]
                if rest:
                    rows.append("")
    if len(rows) <= lines:
        return rows
    return [*rows[: lines - 1], f"{rows[lines - 1][: width - 1]}…"]


def _cut(sentence: str | None, letter: str, index: int) -> str:
    if sentence is None:
        return f"{letter}{index + 1}"
    short = sentence if len(sentence) <= 120 else f"{sentence[:119]}…"
    return f"{letter}{index + 1} “{short}”"


def _told(moves: Sequence[Move]) -> str:
    heavy = sorted(moves, key=lambda move: -move.mass * move.cost)[:6]
    told = "; ".join(
        f"B{move.source + 1} to P{move.target + 1}: {move.mass:.0%} at cost {move.cost:.2f}"
        for move in heavy
    )
    more = len(moves) - len(heavy)
    return f"{told}{f'; and {more} more, see the table' if more else ''}."
