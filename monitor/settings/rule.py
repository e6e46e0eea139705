"""A configured threshold in words: the terminal and the alerts say the same."""

from __future__ import annotations

from monitor.durations import duration
from monitor.settings.watching import Limit, Threshold


def rule(threshold: Threshold) -> str:
    """What is watched, on which side of which limit, over how much, for how long.

    >>> rule(Threshold(name="x", signal="hss", limit=Limit(value=0.8)))
    'mean of hss above 0.8 over 1 h of at least 30 records, for 5 min'
    >>> rule(Threshold(name="x", signal="minutes_unscored", limit=Limit(value=30), hold_seconds=0))
    'minutes_unscored above 30'
    """
    bound = f"{threshold.comparison} {_bound(threshold.limit)}"
    held = f", for {duration(threshold.hold_seconds)}" if threshold.hold_seconds else ""
    if threshold.signal == "minutes_unscored":
        # One number a series, which no window is taken over.
        return f"{threshold.signal} {bound}{held}"
    if threshold.statistic == "quantile":
        statistic = f"quantile {threshold.quantile:g} of {threshold.signal}"
    elif threshold.level is not None:
        statistic = f"share of records whose {threshold.signal} is above {_bound(threshold.level)},"
    else:
        statistic = f"mean of {threshold.signal}"
    window = duration(threshold.window_seconds)
    return f"{statistic} {bound} over {window} of at least {threshold.min_records} records{held}"


def _bound(limit: Limit) -> str:
    if limit.value is not None:
        return f"{limit.value:g}"
    least = "" if limit.at_least is None else f" (at least {limit.at_least:g})"
    return f"the {limit.reference_quantile:g} quantile of the reference{least}"
