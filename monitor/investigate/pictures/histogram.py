"""Two distributions over the same bins, one over the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from monitor.investigate.pictures.scale import Axis, tick_label
from monitor.investigate.pictures.svg import element, line, picture, text

_WIDTH, _HEIGHT = 560.0, 212.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 12.0, 12.0, 58.0, 26.0
_ROW = 17.0
"""Each word has a row of its own: means and limit may lie close together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """One of the two distributions."""

    name: str
    shares: Sequence[float]
    """Of each bin; empty where there are no records."""
    mean: float | None


def histogram(
    before: Shape,
    after: Shape,
    *,
    id: str,
    signal: str,
    low: float,
    high: float,
    limit: float | None = None,
) -> Markup:
    """`before` as a filled area, `after` as a heavy line; `limit` where it lies on this axis."""
    across = Axis(low=low, high=high, start=_LEFT, end=_WIDTH - _RIGHT)
    tallest = max([*before.shares, *after.shares, 1e-9])
    up = Axis(low=0, high=tallest, start=_HEIGHT - _BOTTOM, end=_TOP)
    base = up.at(0)
    parts = []
    if before.shares:
        parts.append(element("path", class_="before", d=_steps(before.shares, across, up) + "z"))
    if after.shares:
        parts.append(element("path", class_="after", d=_steps(after.shares, across, up)))
    parts.append(line(across.start, base, across.end, base, class_="axis"))
    for tick in across.ticks():
        label = text(tick_label(tick), across.at(tick), base + 16, class_="tick", anchor="middle")
        parts.append(label)
    # A line may cross the row of another word: words lie over all lines.
    words = []
    if limit is not None and low <= limit <= high:
        x = across.at(limit)
        y = _TOP - 6 - 2 * _ROW
        parts.append(line(x, y + 2, x, base, class_="limit"))
        anchor = _anchor(across, limit)
        words.append(text(f"limit {limit:.3g}", x, y, class_="tick", anchor=anchor))
    for row, (shape, class_) in enumerate(((before, "before-mean"), (after, "after-mean"))):
        if shape.mean is not None:
            x = across.at(shape.mean)
            y = _TOP - 6 - row * _ROW
            parts.append(line(x, y + 2, x, base, class_=class_))
            told = f"{shape.name} {shape.mean:.3g}"
            anchor = _anchor(across, shape.mean)
            words.append(text(told, x, y, class_=f"tick {class_}-label", anchor=anchor))
    parts += words
    return picture(
        parts,
        id=id,
        size=(_WIDTH, _HEIGHT),
        title=f"{signal}: {before.name} and {after.name}",
        description=f"{_told(before)}; {_told(after)}.",
        class_="histogram",
    )


def _steps(shares: Sequence[float], across: Axis, up: Axis) -> str:
    width = (across.end - across.start) / len(shares)
    path = f"M{across.start:.1f} {up.at(0):.1f}"
    for index, share in enumerate(shares):
        path += f"V{up.at(share):.1f}H{across.start + (index + 1) * width:.1f}"
    return f"{path}V{up.at(0):.1f}"


def _anchor(axis: Axis, value: float) -> str:
    share = (axis.at(value) - axis.start) / (axis.end - axis.start)
    return "start" if share < 0.15 else "end" if share > 0.85 else "middle"


def _told(shape: Shape) -> str:
    if shape.mean is None:
        return f"{shape.name}: no records"
    return f"{shape.name}: mean {shape.mean:.3g}"
