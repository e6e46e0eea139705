"""Whether a signal of a series is still what its reference was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.findings.series import Cursor, Series

DRIFT_STATES = ("insufficient", "stable", "suspect", "drifted")
"""Of a finding, from unknown to certain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredReference:
    """The frozen reference of one signal of one series."""

    calibration_id: str
    series: Series
    signal: str
    fitted: Mapping[str, Any] | None
    """What `drift.reference` stored; `None` with a reason."""
    reason: str | None
    """`drift.Lacking` value."""
    detail: str
    """For people: the reason in words, and how many records were left out."""
    warning: str | None
    """For people: the halves of the reference differ."""
    records: int
    since: datetime | None
    """First record."""
    until: datetime | None
    """Last record."""
    release: str | None = None
    """The only release that it holds; None: whatever came in."""
    origin: str | None = None
    """Calibration whose window it is of, where it was kept; None: its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchState:
    """Where the e-detector of one signal of one series stands."""

    series: Series
    signal: str
    reference_id: str
    """Calibration that its reference belongs to; another one starts the state anew."""
    state: Mapping[str, Any]
    """What `drift.watch.Watch.stored` gave."""
    cursor: Cursor | None
    """`None` before the first record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftTest:
    """One two-sample statistic of the current window against the reference."""

    statistic: str
    """`psi`, `ks` or `wasserstein`."""
    value: float | None
    p: float | None
    adjusted_p: float | None
    """Corrected over everything that was looked at together."""
    reason: str | None
    """Why there is no p-value."""
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftFinding:
    """The present verdict on one signal of one series."""

    series: Series
    signal: str
    calibration_id: str | None
    state: str
    """One of `DRIFT_STATES`."""
    reason: str | None
    """Why it is `insufficient`."""
    detail: str
    direction: str | None
    """While `drifted`: one of `edetector.DIRECTIONS`."""
    since: datetime | None
    """While `drifted`: estimated time of the change."""
    raised_at: datetime | None
    """While `drifted`: record that completed the evidence."""
    effect: float | None
    """Current minus reference mean of the same hours and shares, in the signal's own unit; of a
    length, of its rank among the reference records (0 to 1)."""
    effect_low: float | None
    effect_high: float | None
    deviations: float | None
    """The effect in standard deviations of the reference."""
    reference_mean: float | None
    current_mean: float | None
    evidence: float | None
    """Greatest E_t over the directions."""
    threshold: float
    """c: the evidence at which an alarm is raised."""
    records: int
    """In the current window."""
    tests: tuple[DriftTest, ...]
    evaluated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftChange:
    """A moment at which the state of a signal of a series changed."""

    series: Series
    signal: str
    before: str
    after: str
    at: datetime
    since: datetime | None
    direction: str | None
