"""Which time is before a breach, and which is in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from monitor.breaches.thresholds import Threshold
from monitor.findings import BreachRow
from monitor.storage.distributions import Stretch

_WINDOWS_BEFORE: Final = 3
"""Windows of ordinary traffic that a breach is compared with."""
_MOST: Final = timedelta(days=1)
"""Of a long breach, its first day is compared."""


def threshold_behind(breach: BreachRow, configured: Mapping[str, Threshold]) -> Threshold | None:
    """The configured threshold of a breach; None where it was taken out or became another one."""
    found = configured.get(breach.threshold)
    if found is None:
        return None
    same = (found.signal, found.statistic, found.comparison)
    return found if same == (breach.signal, breach.statistic, breach.comparison) else None


def before(breach: BreachRow) -> Stretch:
    """Ordinary traffic: it ends where the window begins that first exceeded the limit."""
    window = timedelta(seconds=breach.window_seconds)
    until = breach.exceeded_since - window
    return Stretch(since=until - _WINDOWS_BEFORE * window, until=until)


def inside(breach: BreachRow, threshold: Threshold | None, now: datetime) -> Stretch:
    """From the first excess until now; of a resolved breach, until its calm began."""
    end = last_moment(breach, now)
    if breach.resolved_at is not None and threshold is not None:
        calm_began = breach.resolved_at - timedelta(seconds=threshold.calm)
        # Calm begins while a breach is open; before that, it ended otherwise or `calm` was
        # another one.
        if calm_began > breach.opened_at:
            end = min(end, calm_began)
    return Stretch(since=breach.exceeded_since, until=end)


def last_moment(breach: BreachRow, now: datetime) -> datetime:
    """The end of the breach, or now; at most a day after its first window began."""
    window = timedelta(seconds=breach.window_seconds)
    end = max(breach.resolved_at or now + timedelta(seconds=1), breach.exceeded_since)
    return min(end, breach.exceeded_since - window + max(_MOST, window))
