"""Groups of stored records against each other: models, releases, windows, before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from monitor.breaches.configured import AGE
from monitor.drift.correction import holm
from monitor.drift.difference import Difference, difference
from monitor.findings import BreachRow, SignalSample
from monitor.storage.comparison import GroupSample, RecordGroup, record_group
from monitor.storage.queries import RecordFilter
from monitor.storage.series import signal_sample
from monitor.storage.windows import Signal
from monitor.stores import Stores

BEFORE = timedelta(days=1)
"""How much of the time before a breach is compared with it, or one window where that is longer."""


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
        signal: _difference(one.samples[signal], two.samples[signal])
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


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachChange:
    """The signal of a breach before it and since."""

    before_since: datetime
    before_until: datetime
    """One window before the limit was exceeded: the window that exceeded it holds bad records
    already."""
    after_since: datetime
    after_until: datetime
    found: Difference | None
    """`None` where one side has no record with the signal."""
    releases_before: Mapping[str, int]
    """Records by release, where the sender told it."""
    releases_after: Mapping[str, int]


def breach_change(stores: Stores, breach: BreachRow, *, now: datetime) -> BreachChange:
    """What the records say that came in before a breach and since its limit was exceeded."""
    window = timedelta(seconds=breach.window_seconds)
    end = breach.exceeded_since - window
    stretches = (
        (end - max(BEFORE, window), end),
        (breach.exceeded_since, breach.resolved_at or now),
    )
    before, after = (
        _sample(stores, breach, since=since, until=until) for since, until in stretches
    )
    return BreachChange(
        before_since=stretches[0][0],
        before_until=stretches[0][1],
        after_since=stretches[1][0],
        after_until=stretches[1][1],
        found=_difference(_group(before), _group(after)) if before and after else None,
        releases_before=_releases(before),
        releases_after=_releases(after),
    )


def _sample(
    stores: Stores, breach: BreachRow, *, since: datetime, until: datetime
) -> SignalSample | None:
    """Records with the signal of a breach; `None` where there are none."""
    if breach.signal == AGE:
        return None
    sample = signal_sample(stores.database, breach.series, breach.signal, since=since, until=until)
    return sample if len(sample) else None


def _group(sample: SignalSample) -> GroupSample:
    return GroupSample(
        values=sample.values, probabilities=sample.probabilities, traces=sample.traces
    )


def _releases(sample: SignalSample | None) -> Mapping[str, int]:
    if sample is None:
        return {}
    return Counter(release for release in sample.releases if release is not None)


def _difference(first: GroupSample, second: GroupSample) -> Difference:
    return difference(
        first.values,
        second.values,
        first_probabilities=first.probabilities,
        second_probabilities=second.probabilities,
        first_traces=np.array(first.traces),
        second_traces=np.array(second.traces),
    )


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
