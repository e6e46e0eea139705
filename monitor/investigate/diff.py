"""What one text has that another has not, word by word.

The shortest edit script by Myers' greedy algorithm ("An O(ND) Difference Algorithm", 1986), in
time O((N + M) D) for D edits. Beyond `MAX_EDITS` two texts have too little in common for a
comparison to say anything, and the whole is shown as replaced: so the time is bounded, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

MAX_EDITS: Final = 240
_WORD = re.compile(r"\s*\S+|\s+\Z")

Kind = Literal["same", "gone", "new"]
_SAME: Final[Kind] = "same"
_GONE: Final[Kind] = "gone"
_NEW: Final[Kind] = "new"


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A run of words."""

    kind: Kind
    """In both texts, in the first only, or in the second only."""
    text: str
    """As its text writes it, white space included; of `same` pieces the second text's."""


def word_diff(before: str, after: str, *, max_edits: int = MAX_EDITS) -> tuple[Piece, ...]:
    """Pieces in reading order: without `gone` they make `after`, without `new` nearly `before`
    (white space between equal words is taken from `after`).

    >>> [(piece.kind, piece.text) for piece in word_diff("a red hat", "a blue hat")]
    [('same', 'a'), ('gone', ' red'), ('new', ' blue'), ('same', ' hat')]
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    kinds = _script([word.strip() for word in old], [word.strip() for word in new], max_edits)
    pieces: list[Piece] = []
    at_old = at_new = 0
    for kind, count in kinds:
        words = old[at_old : at_old + count] if kind == "gone" else new[at_new : at_new + count]
        at_old += count if kind != "new" else 0
        at_new += count if kind != "gone" else 0
        text = "".join(words)
        if pieces and pieces[-1].kind == "gone" and not text[:1].isspace():
            # The first word of a text has no white space before it to keep them apart.
            pieces[-1] = Piece(kind="gone", text=f"{pieces[-1].text} ")
        pieces.append(Piece(kind=kind, text=text))
    return tuple(pieces)


def _script(old: Sequence[str], new: Sequence[str], max_edits: int) -> list[tuple[Kind, int]]:
    """Runs of (kind, number of words)."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    steps: list[Kind] = [_SAME] * head
    found = _shortest(a, b, max_edits)
    if found is None:
        found = [_GONE] * len(a) + [_NEW] * len(b)
    steps += found
    steps += [_SAME] * tail
    return _grouped(steps)


def _shortest(a: Sequence[str], b: Sequence[str], max_edits: int) -> list[Kind] | None:
    """The edit script from a to b; None where it has more than `max_edits` edits."""
    furthest = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(min(max_edits, len(a) + len(b)) + 1):
        history.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= len(a) and y >= len(b):
                return _walked_back(history, len(a), len(b))
    return None


def _walked_back(history: Sequence[dict[int, int]], x: int, y: int) -> list[Kind]:
    steps: list[Kind] = []
    for edits in range(len(history) - 1, 0, -1):
        furthest, k = history[edits], x - y
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        start = furthest[before]
        # The run of equal words behind the edit.
        same = min(x - start, y - (start - before)) if down else x - start - 1
        steps += [_SAME] * same
        steps.append(_NEW if down else _GONE)
        x, y = start, start - before
    return [_SAME] * x + steps[::-1]


def _grouped(steps: Sequence[Kind]) -> list[tuple[Kind, int]]:
    """Neighbours joined; between two equal words, what is gone stands before what is new."""
    runs: list[tuple[Kind, int]] = []
    edits: dict[Kind, int] = {_GONE: 0, _NEW: 0}

    def flush() -> None:
        for kind in (_GONE, _NEW):
            if edits[kind]:
                runs.append((kind, edits[kind]))
                edits[kind] = 0

    for step in steps:
        if step != "same":
            edits[step] += 1
            continue
        flush()
        if runs and runs[-1][0] == "same":
            runs[-1] = ("same", runs[-1][1] + 1)
        else:
            runs.append(("same", 1))
    flush()
    return runs
