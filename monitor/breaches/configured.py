"""Thresholds as the configuration names them, as the stages take them."""

from __future__ import annotations

from monitor.breaches.thresholds import Bound, Comparison, Statistic, Threshold
from monitor.settings import Limit
from monitor.settings import Threshold as Configured

AGE = "minutes_unscored"
"""A signal with one value a series, not one a record."""


def threshold_of(configured: Configured) -> Threshold:
    """The threshold of a section of the configuration, which holds no contradictions."""
    return Threshold(
        name=configured.name,
        signal=configured.signal,
        limit=_bound(configured.limit),
        statistic=Statistic(configured.statistic),
        comparison=Comparison(configured.comparison),
        quantile=configured.quantile,
        level=None if configured.level is None else _bound(configured.level),
        window=configured.window_seconds,
        min_records=1 if configured.signal == AGE else configured.min_records,
        hold=configured.hold_seconds,
        margin=configured.margin,
        calm=configured.calm_seconds,
    )


def _bound(limit: Limit) -> Bound:
    return Bound(
        value=limit.value, reference_quantile=limit.reference_quantile, at_least=limit.at_least
    )
