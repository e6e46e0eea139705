"""Gauges about records: the queue, windows of scores, normalizers and sampling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from monitor.exporter import Sample
from monitor.labels import LabelPolicy
from monitor.records import Calibration, RecordState, SamplingEpoch, Stratum
from monitor.storage.windows import WindowMean


def queue_samples(
    counts: Mapping[RecordState, int], *, oldest: float | None, last_scored: datetime | None
) -> list[Sample]:
    """Records by state, and the ages that tell whether anything moves."""
    samples = [
        Sample(name="hss_queue_records", labels=(state.value,), value=number)
        for state, number in counts.items()
    ]
    samples.append(Sample(name="hss_queue_age_seconds", labels=(), value=oldest or 0.0))
    if last_scored is not None:
        moment = last_scored.timestamp()
        samples.append(Sample(name="hss_last_score_timestamp_seconds", labels=(), value=moment))
    return samples


def window_samples(window: Iterable[WindowMean], labels: LabelPolicy) -> list[Sample]:
    """Weighted means of signals over the window.

    Several strata may fold into one label set (`other`): their means are joined by the
    traffic that each stands for (Σ 1/π).
    """
    sums: dict[tuple[str, str, str, str], tuple[float, float, int]] = {}
    for row in window:
        key = (row.signal.value, *labels.stratum(row.service, row.model, row.category))
        total, weight, count = sums.get(key, (0.0, 0.0, 0))
        sums[key] = (total + row.mean * row.weight, weight + row.weight, count + row.records)
    samples = []
    for key, (total, weight, count) in sums.items():
        samples.append(Sample(name="hss_window_mean", labels=key, value=total / weight))
        samples.append(Sample(name="hss_window_records", labels=key, value=count))
    return samples


def normalizer_samples(calibrations: Iterable[Calibration], labels: LabelPolicy) -> list[Sample]:
    """M_c of the active calibrations, newest first; of several the first one stands: settings
    that were left keep an active calibration of their own."""
    found: dict[tuple[str, str], Sample] = {}
    for calibration in calibrations:
        provisional = "true" if calibration.provisional else "false"
        for entry in calibration.normalizers:
            name = "" if entry.category is None else labels.category(entry.category)
            key = (name, provisional)
            sample = Sample(name="hss_normalizer", labels=key, value=entry.value)
            found.setdefault(key, sample)
    return list(found.values())


def sampling_samples(
    epoch: SamplingEpoch,
    arrived: Iterable[Stratum],
    *,
    spent: float | None,
    labels: LabelPolicy,
) -> list[Sample]:
    """Rates of the epoch, and what is left of its budget; the greatest rate of those in one
    label set.

    Strata that the epoch does not name have a rate, too: in the first epoch these are all.
    """
    rates: dict[tuple[str, str, str], float] = {}
    for stratum in {*epoch.rates, *arrived}:
        key = labels.stratum(stratum.service, stratum.model, stratum.category)
        rates[key] = max(epoch.rate(stratum), rates.get(key, 0.0))
    samples = [
        Sample(name="hss_sampling_rate_ratio", labels=key, value=rate)
        for key, rate in rates.items()
    ]
    if spent is not None:
        left = max(0.0, 1.0 - spent)
        samples.append(Sample(name="hss_budget_remaining_ratio", labels=(), value=left))
    return samples
