"""A signal's mean through time, with its interval, a limit, and the moments that matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from markupsafe import Markup

from monitor.investigate.pictures.clock import round_times
from monitor.investigate.pictures.scale import Axis, tick_label
from monitor.investigate.pictures.svg import element, line, picture, polyline, text

_WIDTH, _HEIGHT = 560.0, 212.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 12.0, 44.0, 26.0
_TIMES = 4
_LETTER = 9.0
"""Width of a letter of a label, where it is widest: on a phone."""
_ALONE = 2.0
"""Half the width of an interval without neighbours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    at: datetime
    mean: float
    low: float | None
    """Of its interval; None where that is unknown."""
    high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """A vertical line with a word."""

    at: datetime
    name: str


def timeline(
    points: Sequence[Point],
    *,
    id: str,
    signal: str,
    since: datetime,
    until: datetime,
    moments: Sequence[Moment] = (),
    limit: float | None = None,
    unit: bool = False,
) -> Markup:
    """`unit` signals are drawn on the whole of [0, 1]."""
    across = Axis(low=since.timestamp(), high=until.timestamp(), start=_LEFT, end=_WIDTH - _RIGHT)
    up = _upright(points, limit, unit)
    parts = [line(_LEFT, up.start, across.end, up.start, class_="axis")]
    for tick in up.ticks(4):
        y = up.at(tick)
        parts.append(line(_LEFT, y, across.end, y, class_="grid"))
        parts.append(text(tick_label(tick), _LEFT - 6, y + 4, class_="tick", anchor="end"))
    parts += _times(across, since, until)
    parts += _bands(points, across, up)
    middle = [(across.at(p.at.timestamp()), up.at(p.mean)) for p in points]
    parts.append(polyline(middle, class_="course"))
    parts += [element("circle", class_="course-dot", cx=x, cy=y, r=1.8) for x, y in middle]
    if limit is not None:
        y = up.at(limit)
        parts.append(line(_LEFT, y, across.end, y, class_="limit"))
    parts += _moments(across, moments)
    if limit is not None:
        y = up.at(limit) - 6
        parts.append(text(f"limit {limit:.3g}", across.end, y, class_="tick", anchor="end"))
    return picture(
        parts,
        id=id,
        size=(_WIDTH, _HEIGHT),
        title=f"{signal} through time",
        description=_told(points, moments),
        class_="timeline",
    )


def _bands(points: Sequence[Point], across: Axis, up: Axis) -> Iterator[Markup]:
    """The intervals of neighbours joined; where one is unknown there is nothing."""
    for known, run in groupby(points, key=lambda p: p.low is not None and p.high is not None):
        if not known:
            continue
        edges = [(across.at(p.at.timestamp()), p.low or 0.0, p.high or 0.0) for p in run]
        if len(edges) == 1:
            # Wide enough to be seen.
            [(x, low, high)] = edges
            edges = [(x - _ALONE, low, high), (x + _ALONE, low, high)]
        outline = [(x, up.at(high)) for x, _, high in edges]
        outline += [(x, up.at(low)) for x, low, _ in reversed(edges)]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
        yield element("polygon", class_="band", points=joined)


def _upright(points: Sequence[Point], limit: float | None, unit: bool) -> Axis:
    start, end = _HEIGHT - _BOTTOM, _TOP
    if unit:
        return Axis(low=0, high=1, start=start, end=end)
    # A mean may be negative (excess), and its interval may be unknown.
    values = [value for p in points for value in (p.mean, p.low, p.high) if value is not None]
    least = min([0.0, *values])
    greatest = max([*values, *([] if limit is None else [limit]), least + 1e-6])
    return Axis(low=least, high=greatest * 1.05, start=start, end=end)


def _times(across: Axis, since: datetime, until: datetime) -> list[Markup]:
    parts = []
    base = _HEIGHT - _BOTTOM
    for at, name in round_times(since, until, count=_TIMES):
        x = across.at(at.timestamp())
        half = len(name) * _LETTER / 2
        anchor = "end" if x + half > _WIDTH else "start" if x < half else "middle"
        parts.append(line(x, base, x, base + 4, class_="axis"))
        parts.append(text(name, x, _HEIGHT - 8, class_="tick", anchor=anchor))
    return parts


def _moments(across: Axis, moments: Sequence[Moment]) -> list[Markup]:
    lines, words = [], []
    # Words of moments close to each other would lie over one another: two rows. The line of
    # one may still cross the word of another, which lies over it.
    for row, moment in enumerate(moments):
        x = across.at(moment.at.timestamp())
        y = _TOP - 8 - 17 * (row % 2)
        lines.append(line(x, y + 3, x, _HEIGHT - _BOTTOM, class_="moment"))
        anchor = "end" if x > across.end - 70 else "start"
        shift = -3 if anchor == "end" else 3
        words.append(text(moment.name, x + shift, y, class_="tick", anchor=anchor))
    return lines + words


def _told(points: Sequence[Point], moments: Sequence[Moment]) -> str:
    course = "No records."
    if points:
        course = f"Mean {points[0].mean:.3g} at first, {points[-1].mean:.3g} at last."
    named = "".join(f" {m.name}: {m.at:%Y-%m-%d %H:%M:%S} UTC." for m in moments)
    return course + named
