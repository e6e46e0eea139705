"""One state for each signal of a series, and one for the series.

insufficient   no usable reference, too few records since it was taken, or records so
               correlated that no p-value can be had
stable         nothing speaks against the reference
suspect        a corrected p-value of PSI, KS or Wasserstein is below 5 %, or the evidence
               has reached √c: worth a look, not worth a page
drifted        the e-detector raised its alarm and the signal has not come back since;
               the state that pages, and the only one with a promise on false alarms
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import hypot, sqrt

import numpy as np
from scipy.special import stdtrit

from monitor.drift.comparison import Comparison, Sample
from monitor.drift.hajek import Estimate, hajek_mean
from monitor.drift.reference import Insufficient, Lacking, Reference
from monitor.drift.watch import Alarm, Watch

MIN_RECORDS = 50
"""Records since the reference before "stable" may be said."""
SUSPECT_P = 0.05
_NO_SPREAD = 1e-9
"""A standard deviation up to here is rounding: all values of the reference are equal."""


class DriftState(StrEnum):
    """From unknown to certain."""

    INSUFFICIENT = "insufficient"
    STABLE = "stable"
    SUSPECT = "suspect"
    DRIFTED = "drifted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """Current mean minus the reference mean of the same hours and shares."""

    value: float
    """In the signal's own unit (rank, for lengths)."""
    low: float | None
    """95 % interval, with the error of both sides; `None` with fewer than two traces."""
    high: float | None
    deviations: float | None
    """In standard deviations of the reference; `None` where it has none."""
    records: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is known about one signal of one series."""

    state: DriftState
    lacking: Insufficient | None
    """Why it is `insufficient`."""
    alarm: Alarm | None
    """Direction, since when, when it was raised; only for `drifted`."""
    effect: Effect | None
    """Over the records since the change where it is `drifted`, else over the window."""
    evidence: float | None
    """Greatest E_t over the directions."""
    threshold: float
    """c: evidence at which an alarm is raised."""
    comparison: Comparison | None


def judge(
    reference: Reference | Insufficient | None,
    watch: Watch | None,
    window: Sample | None,
    comparison: Comparison | None,
    *,
    threshold: float,
    min_records: int = MIN_RECORDS,
) -> Verdict:
    """The verdict on one signal.

    `watch` has followed all records up to now, `window` are the current records, and
    `comparison` the corrected tests of that window; each is `None` where there is none.
    """
    if reference is None or isinstance(reference, Insufficient):
        lacking = reference or Insufficient(
            reason=Lacking.NO_REFERENCE, detail="no reference: run `hss-monitor calibrate`"
        )
        return _verdict(DriftState.INSUFFICIENT, threshold, lacking=lacking)
    watch = watch if watch is not None and watch.reference_id == reference.id else None
    evidence = max(watch.evidence.value) if watch is not None else None
    alarm = watch.alarm if watch is not None else None
    missing = None if alarm is not None else _lacking(watch, comparison, min_records)
    if alarm is not None:
        state = DriftState.DRIFTED
    elif missing is not None:
        state = DriftState.INSUFFICIENT
    elif _suspect(evidence, comparison, threshold):
        state = DriftState.SUSPECT
    else:
        state = DriftState.STABLE
    return _verdict(
        state,
        threshold,
        lacking=missing,
        alarm=alarm,
        effect=_effect(reference, window, alarm),
        evidence=evidence,
        comparison=comparison,
    )


def _lacking(
    watch: Watch | None, comparison: Comparison | None, min_records: int
) -> Insufficient | None:
    seen = 0 if watch is None else watch.evidence.records
    if seen < min_records:
        return Insufficient(
            reason=Lacking.TOO_FEW_RECORDS,
            detail=f"{seen} records since the reference or the last recovery, "
            f"it takes {min_records}",
        )
    for test in () if comparison is None else comparison.tests.values():
        # A window too small for a test leaves the e-detector, which needs no window. But
        # where records are that much alike, its assumption does not hold either.
        if isinstance(test, Insufficient) and test.reason is Lacking.TOO_CORRELATED:
            return test
    return None


def _suspect(evidence: float | None, comparison: Comparison | None, threshold: float) -> bool:
    if evidence is not None and evidence >= sqrt(threshold):
        return True
    return comparison is not None and any(p < SUSPECT_P for p in comparison.adjusted.values())


def _effect(reference: Reference, window: Sample | None, alarm: Alarm | None) -> Effect | None:
    if window is None or len(window.values) == 0:
        return None
    recent = np.ones(len(window.values), dtype=np.bool_)
    if alarm is not None and (window.times >= alarm.since).any():
        recent = window.times >= alarm.since
    values = reference.adjusted(window.values, window.times, shares=window.shares)
    now = hajek_mean(
        values[recent],
        probabilities=None if window.probabilities is None else window.probabilities[recent],
        clusters=None if window.clusters is None else window.clusters[recent],
    )
    value, width = now.value - reference.level.average, reference.mapper.width
    margin = _margin(reference, now)
    return Effect(
        value=value * width,
        low=None if margin is None else (value - margin) * width,
        high=None if margin is None else (value + margin) * width,
        deviations=value / reference.deviation if reference.deviation > _NO_SPREAD else None,
        records=now.records,
    )


def _margin(reference: Reference, now: Estimate) -> float | None:
    """Half-width of the 95 % interval; both errors grow with √τ."""
    if now.std_error is None:
        return None
    error = hypot(now.std_error, sqrt(reference.level.covariance[0][0]))
    degrees = min(now.clusters - 1, reference.level.degrees)
    return float(stdtrit(degrees, 0.975)) * error * sqrt(reference.level.correlation_time)


def _verdict(
    state: DriftState,
    threshold: float,
    *,
    lacking: Insufficient | None,
    alarm: Alarm | None = None,
    effect: Effect | None = None,
    evidence: float | None = None,
    comparison: Comparison | None = None,
) -> Verdict:
    return Verdict(
        state=state,
        lacking=lacking,
        alarm=alarm,
        effect=effect,
        evidence=evidence,
        threshold=threshold,
        comparison=comparison,
    )
