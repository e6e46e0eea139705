"""Stored records as thresholds take them."""

from __future__ import annotations

from monitor.breaches.window import Records
from monitor.findings import SignalSample


def records_of(sample: SignalSample) -> Records:
    """The values of a sample, each with weight 1/π."""
    return Records(
        values=sample.values,
        weights=1.0 / sample.probabilities,
        ids=sample.ids,
        releases=sample.releases,
    )
