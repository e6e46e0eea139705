"""Limits that are quantiles of the reference, as numbers.

The reference is frozen, its records are not: they are pruned after their days. So a number is
kept, under its calibration, when it is first found; whoever starts later reads it. From what is
left of a reference none is made: the oldest records go first, and the quantile would move.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import structlog

from monitor.breaches.stored import records_of
from monitor.breaches.thresholds import Threshold
from monitor.evaluation.ports import Facts, Samples
from monitor.evaluation.references import References
from monitor.findings import Series
from monitor.records import Calibration

log = structlog.get_logger(__name__)

MOST_GONE = 0.1
"""Of the records of a reference: single ones are scored anew; pruning takes all of them."""


class Limits:
    """The bounds of thresholds as the active calibrations give them."""

    def __init__(self, samples: Samples, references: References, facts: Facts) -> None:
        self._samples = samples
        self._references = references
        self._facts = facts
        self._known: dict[tuple[str, Series, str, tuple[float, ...]], Mapping[float, float]] = {}

    def of(self, threshold: Threshold, series: Series) -> Threshold:
        """The threshold with numbers for its quantiles, as far as there are any."""
        if not threshold.needs_reference:
            return threshold
        calibration = self._references.calibration(series)
        if calibration is None:
            return threshold
        key = (calibration.id, series, threshold.signal, threshold.quantiles)
        if key not in self._known:
            self._known[key] = self._numbers(threshold, series, calibration)
        return threshold.fixed(self._known[key])

    def _numbers(
        self, threshold: Threshold, series: Series, calibration: Calibration
    ) -> dict[float, float]:
        held = self._references.of(series, threshold.signal)
        # A reference that was kept from an earlier calibration is what it was there; HSS is not.
        kept_from = None if held is None or threshold.signal == "hss" else held.stored.origin
        of = kept_from or calibration.id
        facts = {q: _fact(of, series, threshold.signal, q) for q in threshold.quantiles}
        kept = {q: self._facts.get(fact) for q, fact in facts.items()}
        numbers = {q: float(number) for q, number in kept.items() if number is not None}
        missing = [q for q in facts if q not in numbers]
        if not missing:
            return numbers
        found = self._samples.reference(
            series, threshold.signal, calibration, until=calibration.created_at
        )
        if held is not None and len(found) < (1 - MOST_GONE) * held.stored.records:
            log.warning(
                "reference_pruned",
                threshold=threshold.name,
                calibration=calibration.id,
                records=len(found),
                of=held.stored.records,
                remedy="run `hss-monitor calibrate`",
            )
            return numbers
        for q, number in records_of(found).quantiles(missing).items():
            numbers[q] = float(self._facts.settle(facts[q], repr(number)))
        return numbers


def _fact(calibration_id: str, series: Series, signal: str, quantile: float) -> str:
    named = json.dumps([series.service, series.model, series.category, signal, quantile])
    return f"quantile {calibration_id} {hashlib.sha256(named.encode()).hexdigest()[:24]}"
