"""Groups of stored records against each other: models, releases, windows, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from monitor.drift.correction import holm
from monitor.drift.difference import Difference, GroupMean, difference
from monitor.findings import Series, SignalSample
from monitor.settings.ranges import signal_range
from monitor.storage.comparison import GroupSample, RecordGroup, record_group
from monitor.storage.distributions import Stretch
from monitor.storage.queries import RecordFilter
from monitor.storage.samples import signal_sample
from monitor.storage.signal_columns import has_columns
from monitor.storage.windows import Signal
from monitor.stores import Stores


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalComparison:
    """One signal of two groups."""

    signal: Signal
    found: Difference | None
    """`None` where one of the groups has no record with it."""
    adjusted_p: float | None
    """Corrected over all signals of this comparison (Holm)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupComparison:
    """Two groups of scored records."""

    first: RecordGroup
    second: RecordGroup
    signals: tuple[SignalComparison, ...]
    warnings: tuple[str, ...]
    """Why they may not compare."""


def compare_groups(
    stores: Stores, first: RecordFilter, second: RecordFilter, *, signals: Sequence[Signal]
) -> GroupComparison:
    """Weighted means of every signal in both groups, and how far they lie apart."""
    one, two = (
        record_group(stores.database, wanted, signals=signals) for wanted in (first, second)
    )
    found = {
        signal: _difference(signal, one.samples[signal], two.samples[signal])
        for signal in signals
        if signal in one.samples and signal in two.samples
    }
    tested = [signal for signal, each in found.items() if each.p is not None]
    adjusted = dict(zip(tested, holm([found[signal].p or 0.0 for signal in tested]), strict=True))
    return GroupComparison(
        first=one,
        second=two,
        signals=tuple(
            SignalComparison(
                signal=signal, found=found.get(signal), adjusted_p=adjusted.get(signal)
            )
            for signal in signals
        ),
        warnings=tuple(_warnings(one, two)),
    )


def stretch_difference(
    stores: Stores, series: Series, signal: str, before: Stretch, after: Stretch
) -> Difference | None:
    """One signal of one series in two stretches of time; `None` where one of them has no record
    with it."""
    if not has_columns(signal):
        return None
    first, second = (
        signal_sample(stores.database, series, signal, since=stretch.since, until=stretch.until)
        for stretch in (before, after)
    )
    if not len(first) or not len(second):
        return None
    return _difference(signal, _group(first), _group(second))


def _group(sample: SignalSample) -> GroupSample:
    return GroupSample(
        values=sample.values, probabilities=sample.probabilities, traces=sample.traces
    )


def _difference(signal: str, first: GroupSample, second: GroupSample) -> Difference:
    found = difference(
        first.values,
        second.values,
        first_probabilities=first.probabilities,
        second_probabilities=second.probabilities,
        first_traces=np.array(first.traces),
        second_traces=np.array(second.traces),
    )
    least, most = signal_range(signal)
    low, high = _within(found, least - most, most - least)
    return replace(
        found,
        first=_mean_within(found.first, least, most),
        second=_mean_within(found.second, least, most),
        low=low,
        high=high,
    )


def _mean_within(mean: GroupMean, least: float, most: float) -> GroupMean:
    low, high = _within(mean, least, most)
    return replace(mean, low=low, high=high)


def _within(
    found: GroupMean | Difference, least: float, most: float
) -> tuple[float | None, float | None]:
    """Its interval without what it cannot be."""
    if found.low is None or found.high is None:
        return None, None
    return max(found.low, least), min(found.high, most)


def _warnings(first: RecordGroup, second: RecordGroup) -> list[str]:
    warnings = []
    if len({*first.fingerprints, *second.fingerprints}) > 1:
        warnings.append(
            "the groups hold scores of several settings (fingerprints): distances, HSS and "
            "attributions of different ones do not compare; narrow the windows"
        )
    if len({*first.calibrations, *second.calibrations}) > 1:
        warnings.append(
            "HSS was normalized by several calibrations: compare raw_distance, or renormalize "
            "with `hss-monitor calibrate --apply`"
        )
    if first.capped or second.capped:
        warnings.append(f"only the newest {max(first.records, second.records):,} of a group count")
    return warnings
