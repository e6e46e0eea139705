"""How HSS ran, as small as a word."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from monitor.investigate.pictures.scale import Axis
from monitor.investigate.pictures.svg import element, line, picture, polyline

_WIDTH, _HEIGHT = 132.0, 28.0


def sparkline(values: Sequence[float | None], *, id: str, title: str) -> Markup:
    """Values in [0, 1], oldest first; None is a gap. The scale is always the whole of [0, 1]."""
    across = Axis(low=0, high=max(len(values) - 1, 1), start=3, end=_WIDTH - 4)
    up = Axis(low=0, high=1, start=_HEIGHT - 3, end=3)
    parts = [
        line(0, up.at(0), _WIDTH, up.at(0), class_="spark-edge"),
        line(0, up.at(1), _WIDTH, up.at(1), class_="spark-edge"),
    ]
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    for run in _runs(values):
        points = [(across.at(index), up.at(value)) for index, value in run]
        if len(points) == 1:
            [(x, y)] = points
            parts.append(element("circle", class_="spark-dot", cx=x, cy=y, r=1.2))
        else:
            parts.append(polyline(points, class_="spark"))
    if known:
        index, value = known[-1]
        parts.append(
            element("circle", class_="spark-last", cx=across.at(index), cy=up.at(value), r=2.4)
        )
    return picture(
        parts,
        id=id,
        size=(_WIDTH, _HEIGHT),
        title=title,
        description=_told([value for _, value in known]),
        class_="sparkline",
    )


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    runs: list[list[tuple[int, float]]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((index, value))
    return [run for run in runs if run]


def _told(known: Sequence[float]) -> str:
    if not known:
        return "No scored record."
    return (
        f"First {known[0]:.2f}, last {known[-1]:.2f}, "
        f"least {min(known):.2f}, greatest {max(known):.2f}."
    )
