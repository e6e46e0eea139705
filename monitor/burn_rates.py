"""Counters behind burn-rate alerts: how much traffic, and how much of it beyond a level.

The ratio of their rates over a window is the weighted share of bad records in it, over all
replicas. Each record counts 1/π, as it stands for so many; a signal of explained records
1/(π · probability of being explained). Beside it records are counted once each: a share that
rests on three records must not wake anybody, however many they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monitor.findings import Series
from monitor.records import FinishedRecord
from monitor.settings import Threshold
from monitor.storage.signal_columns import SKIPPED
from monitor.storage.windows import OF_EXPLAINED
from monitor.telemetry import Telemetry


class BurnRates:
    """Counts final records for every `share_above` threshold that watches their series.

    `level_of(threshold, series)` is the level that the evaluator last found where it is a
    quantile of the reference. As long as it is unknown, records are counted neither way.
    """

    def __init__(
        self,
        telemetry: Telemetry,
        thresholds: Sequence[Threshold],
        *,
        level_of: Callable[[str, Series], float | None],
    ) -> None:
        self._telemetry = telemetry
        self._thresholds = [each for each in thresholds if each.level is not None]
        self._level_of = level_of

    def count(self, row: FinishedRecord) -> None:
        """Take one record in; the caller hands each over once."""
        for threshold in self._thresholds:
            if not threshold.watches(row.service, row.model, row.category):
                continue
            value, weight = _value(row, threshold.signal), _weight(row, threshold.signal)
            level = self._level(threshold, row)
            if value is None or weight is None or level is None:
                continue
            stratum = self._telemetry.labels.stratum(row.service, row.model, row.category)
            labels = (threshold.name, *stratum)
            # Also by nothing: a ratio needs both series from the first record on.
            exceeded = value > level
            self._telemetry.count("hss_threshold_weight_total", *labels, by=weight)
            self._telemetry.count(
                "hss_threshold_exceeded_weight_total", *labels, by=weight * exceeded
            )
            self._telemetry.count("hss_threshold_observed_total", *labels)
            self._telemetry.count("hss_threshold_exceeded_total", *labels, by=float(exceeded))

    def _level(self, threshold: Threshold, row: FinishedRecord) -> float | None:
        if threshold.level is not None and threshold.level.value is not None:
            return threshold.level.value
        series = Series(service=row.service, model=row.model, category=row.category)
        return self._level_of(threshold.name, series)


def _value(row: FinishedRecord, signal: str) -> float | None:
    if signal == SKIPPED:
        return 0.0 if row.state == "scored" else 1.0
    value: float | None = getattr(row, signal, None) if row.state == "scored" else None
    return value


def _weight(row: FinishedRecord, signal: str) -> float | None:
    if signal not in OF_EXPLAINED:
        return 1 / row.probability
    if not row.attribution_probability:
        return None
    return 1 / (row.probability * row.attribution_probability)
