"""Round times to write beside an axis."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Final

from monitor.investigate.pictures.scale import round_step

_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86_400
_STEPS: Final = (
    *(count * _SECOND for count in (1, 2, 5, 10, 15, 30)),
    *(count * _MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * _HOUR for count in (1, 2, 3, 6, 12)),
    *(count * _DAY for count in (1, 2)),
)
"""Seconds between times that people call round."""


def round_times(since: datetime, until: datetime, *, count: int = 4) -> list[tuple[datetime, str]]:
    """About `count` round times of [since, until] in UTC, at most one more, each with what to
    write.

    >>> start = datetime(2026, 3, 1, 12, 3, 20, tzinfo=UTC)
    >>> [name for _, name in round_times(start, start + timedelta(minutes=7))]
    ['12:04', '12:06', '12:08', '12:10']
    >>> [name for _, name in round_times(start, start + timedelta(seconds=65))]
    ['12:03:30', '12:04:00']
    """
    rough = (until - since).total_seconds() / count
    days = _DAY * int(round_step(max(rough / _DAY, 1.0)))
    step = next((each for each in _STEPS if each >= rough), days)
    form = _form(step, since, until)
    first = ceil(since.timestamp() / step) * step
    found = []
    for index in range(count + 1):
        at = datetime.fromtimestamp(first + index * step, UTC)
        if at <= until:
            found.append((at, at.strftime(form)))
    return found


def _form(step: float, since: datetime, until: datetime) -> str:
    if step >= _DAY:
        return "%d %b"
    clock = "%H:%M" if step >= _MINUTE else "%H:%M:%S"
    # Only where times of day would be taken for those of another day.
    return f"%d %b {clock}" if until - since > timedelta(days=1) else clock
