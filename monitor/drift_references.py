"""The frozen references of drift: what was normal in the window of a calibration.

They are fitted when a calibration is made, stored beside it and never changed: a reference that
followed the traffic would adapt to every degradation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from monitor.calibrating import Kept, Window, kept_series, severities_of
from monitor.drift.comparison import Sample, compare_halves
from monitor.drift.fitting import fit_reference
from monitor.drift.reference import Insufficient, Reference
from monitor.drift.signals import SIGNALS
from monitor.drift.verdict import SUSPECT_P
from monitor.evaluation.comparable import adjustable, comparable
from monitor.findings import Series, SignalSample, StoredReference
from monitor.records import Calibration, Severity
from monitor.settings.watching import Drift
from monitor.storage.samples import signal_sample
from monitor.storage.series import list_series
from monitor.stores import Stores

MOST_SERIES = 1_000


def fit_references(
    stores: Stores, calibration: Calibration, window: Window, settings: Drift
) -> list[StoredReference]:
    """What was normal in the window, for every signal of every series that has records in it.

    HSS is the one that the calibration itself gives, whatever was stored before. A reference
    that cannot be had is one with its reason; of a signal that is adjusted for the share of
    replaced words, records without one are left out, and `detail` counts them. Series that the
    window holds nothing of keep theirs. To be called before the calibration is active.
    """
    severities = severities_of(stores, calibration, window)
    made = []
    for series, _ in list_series(stores.database, since=window.since, limit=MOST_SERIES):
        if window.service not in {None, series.service} or window.model not in {None, series.model}:
            continue
        samples = {
            signal: sample_of(stores, series, signal, calibration, window, severities)
            for signal in settings.signals
        }
        if any(len(sample) for sample in samples.values()):
            made += [
                _reference(calibration, series, signal, sample, settings)
                for signal, sample in samples.items()
            ]
    kept = kept_series(stores, window, fingerprint=calibration.fingerprint)
    return [*made, *_kept(stores, calibration, kept, settings)]


def _kept(
    stores: Stores, calibration: Calibration, kept: Sequence[Kept], settings: Drift
) -> Iterator[StoredReference]:
    """The references of these series as they are, so that their detectors go on; HSS anew, because
    its normalizer is another one."""
    replaced = stores.calibrations.active(calibration.fingerprint)
    by_series = {each.series: each for each in kept}
    for held in stores.drift.references("" if replaced is None else replaced.id):
        one = by_series.get(held.series)
        if one is None:
            continue
        same = held
        if held.signal == "hss":
            severities = severities_of(stores, calibration, one.window)
            sample = sample_of(stores, held.series, "hss", calibration, one.window, severities)
            same = _reference(calibration, held.series, "hss", sample, settings)
        yield replace(
            same, calibration_id=calibration.id, release=one.origin.release, origin=one.origin.id
        )


def sample_of(
    stores: Stores,
    series: Series,
    signal: str,
    calibration: Calibration,
    window: Window,
    severities: Mapping[str, Severity],
) -> SignalSample:
    """The reference records of one signal; HSS by `severities` instead of as it is stored."""
    sample = signal_sample(
        stores.database,
        series,
        "raw_distance" if signal == "hss" else signal,
        since=window.since,
        until=window.until,
        release=window.release,
        fingerprint=calibration.fingerprint,
    )
    return _with_hss(sample, severities) if signal == "hss" else sample


def _with_hss(sample: SignalSample, severities: Mapping[str, Severity]) -> SignalSample:
    found = [
        (place, severities[record].hss)
        for place, record in enumerate(sample.ids)
        if record in severities
    ]
    known = [(place, hss) for place, hss in found if hss is not None]
    return replace(
        sample.at([place for place, _ in known]),
        values=np.array([hss for _, hss in known], dtype=np.float64),
    )


def _reference(
    calibration: Calibration, series: Series, signal: str, found: SignalSample, settings: Drift
) -> StoredReference:
    sample = adjustable(found, signal)
    whole = comparable(sample, signal)
    fitted = fit_reference(
        whole.values,
        whole.times,
        id=calibration.id,
        scale=SIGNALS[signal],
        probabilities=whole.probabilities,
        clusters=whole.clusters,
        shares=whole.shares,
        delta=settings.delta,
        min_records=settings.min_reference_records,
        cycle_hours=settings.cycle_hours,
    )
    lacking = fitted if isinstance(fitted, Insufficient) else None
    return StoredReference(
        calibration_id=calibration.id,
        series=series,
        signal=signal,
        fitted=fitted.stored() if isinstance(fitted, Reference) else None,
        reason=None if lacking is None else lacking.reason.value,
        detail="; ".join(_told(lacking, left_out=len(found) - len(sample))),
        warning=_warning(fitted, whole) if isinstance(fitted, Reference) else None,
        records=len(sample),
        since=_moment(sample.times[0]) if len(sample) else None,
        until=_moment(sample.times[-1]) if len(sample) else None,
        release=calibration.release,
    )


def _told(lacking: Insufficient | None, *, left_out: int) -> Iterator[str]:
    if lacking is not None:
        yield lacking.detail
    if left_out:
        yield f"{left_out} records left out: no share of replaced words is stored with them"


def _warning(reference: Reference, sample: Sample) -> str | None:
    """Whether "normal" was changing while it was recorded."""
    if len(sample.values) < 2:
        return None
    halves = compare_halves(reference, sample, seed=0)
    moved = [name for name, p in halves.adjusted.items() if p < SUSPECT_P]
    if not moved:
        return None
    return (
        f"the first and the second half of this reference differ ({', '.join(moved)}, "
        f"p = {min(halves.adjusted.values()):.2g}); choose a window in which nothing changed"
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
