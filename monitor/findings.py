"""What is found out about many records together: references, drift, breaches.

Frozen records in the order in which they flow, as `storage` keeps them and gives them back.
Enumerations of the stages appear as their values (plain strings), so that storage needs to know
no stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from monitor.records import FloatArray

DRIFT_STATES = ("insufficient", "stable", "suspect", "drifted")
"""Of a finding, from unknown to certain."""
BREACH_STATES = ("open", "resolved")
"""Of a breach; before it opened there is none."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Series:
    """What is judged together: one service, model and category."""

    service: str
    model: str
    category: str
    """As it was decided when the records were scored; empty where none was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """The last record that was taken in, in the order (received_at, id)."""

    received_at: datetime
    record_id: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SignalSample:
    """Records of one series with a value of one signal, in the order (received_at, id)."""

    ids: tuple[str, ...]
    times: FloatArray
    """(n,) received, seconds since the epoch, ascending."""
    values: FloatArray
    """(n,)"""
    probabilities: FloatArray
    """(n,) π; for attributions times the probability of being explained."""
    traces: tuple[str, ...]
    """Trace id, or the record's own id where it has none."""
    shares: FloatArray
    """(n,) mean achieved share of replaced words; NaN where no perturbation has a distance."""
    releases: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, places: Sequence[int]) -> SignalSample:
        """The records at these places, which ascend."""
        chosen = np.asarray(places, dtype=np.intp)
        return SignalSample(
            ids=tuple(self.ids[place] for place in places),
            times=self.times[chosen],
            values=self.values[chosen],
            probabilities=self.probabilities[chosen],
            traces=tuple(self.traces[place] for place in places),
            shares=self.shares[chosen],
            releases=tuple(self.releases[place] for place in places),
        )

    def with_share(self) -> SignalSample:
        """Without the records whose share is unknown: nothing can be adjusted for it there."""
        known = np.flatnonzero(np.isfinite(self.shares))
        return self if len(known) == len(self) else self.at(known.tolist())


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


@dataclass(frozen=True, kw_only=True, slots=True)
class ThresholdState:
    """Where one threshold of one series stands after an evaluation."""

    threshold: str
    series: Series
    state: str
    """`ok`, `pending`, `open` or `resolved`."""
    number: int
    """How many of its breaches have opened so far."""
    value: float | None
    """The statistic now; `None` with a reason."""
    limit: float | None
    level: float | None
    """Of `share_above`, as it applies now."""
    records: int
    reason: str | None
    """Why there is no value: `too_few_records`, `no_reference` or `not_watched`."""
    evaluated_at: datetime
    stored: Mapping[str, Any]
    """All of `breaches.lifecycle.Breach`, to go on with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachContributor:
    """A record that helped to open a breach, and what people said of it."""

    record_id: str
    value: float
    weight: float
    """1/π."""
    place: int
    """1 contributed most."""
    release: str | None
    mark: bool | None
    """Whether it was rightly in the breach; `None` before anybody said."""
    marked_by: str | None
    marked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachRow:
    """A breach that opened; it stays stored after it was resolved."""

    id: str
    """Stable: the same threshold, series and number give the same id."""
    threshold: str
    series: Series
    number: int
    signal: str
    statistic: str
    comparison: str
    severity: str
    state: str
    """`open` or `resolved`."""
    exceeded_since: datetime
    opened_at: datetime
    resolved_at: datetime | None
    value: float | None
    """The statistic at the last evaluation that had an answer, up to the end."""
    worst: float | None
    limit: float | None
    window_seconds: float
    records: int
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachDetail:
    """A breach with the records that contributed most."""

    breach: BreachRow
    contributors: tuple[BreachContributor, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkCounts:
    """How on-call people judged the records of a threshold's breaches."""

    threshold: str
    true: int
    false: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorLease:
    """Who evaluates at present."""

    holder: str
    """Name of a front."""
    token: int
    """Grows with every change of holder: a late write of a former holder is refused by it."""
    until: datetime
    evaluated_at: datetime | None
    """End of the last complete evaluation."""
