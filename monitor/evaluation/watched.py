"""Which series a turn looks at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.evaluation.ports import BreachStore, Samples
from monitor.findings import Series
from monitor.settings import Settings

DAY = 86_400.0
MOST_ALIVE = 1_000
"""Series of which it is known that they have records at all."""
UNSETTLED = frozenset({"pending", "open"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """The series of one turn."""

    recent: tuple[tuple[Series, int], ...]
    """With records in the drift window, busiest first, at most `drift.max_series`."""
    judged: tuple[Series, ...]
    """Those that thresholds are judged on."""


def watched_series(
    samples: Samples, breaches: BreachStore, *, settings: Settings, now: datetime
) -> Watched:
    """Drift needs recent records. Thresholds are judged longer: on the busiest series with a
    record in the longest window of any of them, at least a day, and on every series in a breach
    that still has records, finished ones or such that wait. A series without any for so long
    is gone, and its breaches with it.
    """
    drift = settings.drift
    recent = samples.series(
        since=now - timedelta(seconds=drift.window_seconds), limit=drift.max_series
    )
    longest = max([DAY, *(each.window_seconds for each in settings.thresholds)])
    alive = [
        series
        for series, _ in samples.series(since=now - timedelta(seconds=longest), limit=MOST_ALIVE)
    ]
    judged = dict.fromkeys(alive[: drift.max_series])
    unsettled = {state.series for state in breaches.threshold_states() if state.state in UNSETTLED}
    for series in sorted(unsettled - judged.keys()):
        waiting = samples.minutes_unscored(series, now=now)
        if series in alive or (waiting is not None and waiting > 0):
            judged[series] = None
    return Watched(recent=tuple(recent), judged=tuple(judged))
