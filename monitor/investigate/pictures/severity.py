"""One HSS on its scale: the interval, each rewording, and what serving noise alone does."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from monitor.investigate.pictures.scale import Axis, tick_label
from monitor.investigate.pictures.svg import element, line, picture, text

_WIDTH, _ABOVE, _BELOW = 560.0, 72.0, 46.0
_STEP = 10.0
"""Marks that would lie over one another are stacked."""


def severity_scale(
    *,
    id: str,
    hss: float,
    low: float | None,
    high: float | None,
    versions: Sequence[tuple[float, str]],
    null: float | None,
) -> Markup:
    """`versions` are min(D_k / M, 1) with the strength of each, `null` the same of D_null."""
    across = Axis(low=0, high=1, start=16, end=_WIDTH - 16)
    places = _stacked([across.at(value) for value, _ in versions])
    axis = _ABOVE + _STEP * max(places, default=0)
    parts = [line(across.start, axis, across.end, axis, class_="axis")]
    for tick in across.ticks():
        x = across.at(tick)
        parts.append(line(x, axis, x, axis + 5, class_="axis"))
        parts.append(text(tick_label(tick), x, axis + 19, class_="tick", anchor="middle"))
    for (value, strength), level in zip(versions, places, strict=True):
        parts.append(_mark(across.at(value), axis - 10 - _STEP * level, strength, value))
    if low is not None and high is not None:
        parts.append(
            element(
                "rect",
                element("title", f"95 % interval {low:.3f} to {high:.3f}"),
                class_="interval",
                x=across.at(low),
                y=_ABOVE - 44,
                width=max(across.at(high) - across.at(low), 1.5),
                height=14,
            )
        )
    x = across.at(hss)
    parts.append(line(x, _ABOVE - 49, x, _ABOVE - 25, class_="hss-point"))
    parts.append(text(f"HSS {hss:.3f}", x, _ABOVE - 54, class_="strong", anchor=_anchor(hss)))
    if null is not None:
        x = across.at(null)
        parts.append(line(x, axis - 22, x, axis + 27, class_="null-point"))
        words = f"serving noise {null:.3f}"
        parts.append(text(words, x, axis + 40, class_="tick", anchor=_anchor(null)))
    return picture(
        parts,
        id=id,
        size=(_WIDTH, axis + _BELOW),
        title="HSS on its scale from 0 to 1",
        description=_told(hss, low, high, versions, null),
        class_="severity",
    )


def _stacked(xs: Sequence[float]) -> list[int]:
    """On which level each mark stands: the lowest where it touches none."""
    levels: list[int] = []
    for index, x in enumerate(xs):
        near = {levels[other] for other in range(index) if abs(xs[other] - x) < _STEP}
        levels.append(next(level for level in range(len(xs)) if level not in near))
    return levels


def _mark(x: float, y: float, strength: str, value: float) -> Markup:
    """Low is a circle, moderate a square, high a triangle."""
    told = element("title", f"{strength}: {value:.3f}")
    if strength == "low":
        return element("circle", told, class_="version", cx=x, cy=y, r=4)
    if strength == "moderate":
        return element("rect", told, class_="version", x=x - 3.6, y=y - 3.6, width=7.2, height=7.2)
    path = f"M{x:.1f} {y - 4.6:.1f}l4.6 8.4h-9.2z"
    return element("path", told, class_="version", d=path)


def _anchor(share: float) -> str:
    return "start" if share < 0.12 else "end" if share > 0.88 else "middle"


def _told(
    hss: float,
    low: float | None,
    high: float | None,
    versions: Sequence[tuple[float, str]],
    null: float | None,
) -> str:
    told = f"HSS {hss:.3f}"
    if low is not None and high is not None:
        told += f", 95 % interval {low:.3f} to {high:.3f}"
    if null is not None:
        told += f"; serving noise alone {null:.3f}"
    moved = ", ".join(f"{value:.3f} ({strength})" for value, strength in versions)
    return f"{told}. Rewordings: {moved or 'none'}."
