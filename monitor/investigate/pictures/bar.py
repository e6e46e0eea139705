"""A value in [0, 1] with its interval, as small as a cell of a table."""

from __future__ import annotations

from markupsafe import Markup

from monitor.investigate.pictures.scale import Axis
from monitor.investigate.pictures.svg import element, line, picture

_WIDTH, _HEIGHT = 96.0, 14.0


def bar(
    value: float, *, id: str, title: str, low: float | None = None, high: float | None = None
) -> Markup:
    """The title tells the numbers; the picture only helps to compare rows."""
    across = Axis(low=0, high=1, start=1, end=_WIDTH - 1)
    parts = [
        element("rect", class_="bar-room", x=1, y=3, width=_WIDTH - 2, height=8, rx=2),
        element("rect", class_="bar-fill", x=1, y=3, width=across.at(value) - 1, height=8, rx=2),
    ]
    if low is not None and high is not None:
        parts.append(line(across.at(low), 7, across.at(high), 7, class_="whisker"))
        parts += [
            line(across.at(end), 3, across.at(end), 11, class_="whisker") for end in (low, high)
        ]
    return picture(parts, id=id, size=(_WIDTH, _HEIGHT), title=title, description="", class_="bar")
