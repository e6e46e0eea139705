"""The frozen reference of one signal of one series: what is normal, hour by hour.

From reference records (mapped to [0, 1], adjusted for the achieved `share` of replaced words
where that matters) two curves are fitted: of the level x, and of the spread
s = min((x − μ_t)²/q, 1) with q the 99th percentile of the squared deviations. The limits

    upper_t = μ_t + t₀.₉₉ · se(μ_t) + δ,     lower_t = μ_t − t₀.₉₉ · se(μ_t) − δ

are the m_t of the sequential test: functions of the clock and of the reference only. δ is
the smallest change that anyone wants to be woken for, in mapped units (0.02 of a distance's
[0, 1] is 0.04 of W₁). Frozen, because a reference that follows the traffic adapts to every
degradation and never alarms.

Assumptions: records are (nearly) independent between traces, and a cycle of a day with at
most two harmonics; weekends that differ by more than δ need a reference of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from monitor.drift.cycle import MeanCurve, restore_curve
from monitor.drift.hajek import check_length, inverse
from monitor.drift.signals import Mapper, restore_mapper
from monitor.errors import MalformedInput
from monitor.records import FloatArray


class Lacking(StrEnum):
    """Why drift cannot be judged."""

    NO_REFERENCE = "no_reference"
    TOO_FEW_RECORDS = "too_few_records"
    """The reference has fewer than `min_records`, or the window too few for a test."""
    NO_FULL_CYCLE = "no_full_cycle"
    """The reference spans less than a day."""
    TOO_CORRELATED = "too_correlated"
    """Blocks of ten correlation times leave too few blocks for a p-value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Insufficient:
    """There is no judgement, and why."""

    reason: Lacking
    detail: str
    """For people: what there is and what it takes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observations:
    """Records as bets see them; rows are `edetector.DIRECTIONS`."""

    times: FloatArray
    """(n,) seconds since the epoch."""
    values: FloatArray
    """(4, n) in [0, 1]: x, 1 − x, s, 1 − s."""
    limits: FloatArray
    """(4, n): upper limit of each value's mean under "no drift"."""
    stakes: FloatArray
    """(4, n) in (0, 1]: weight 1/π relative to the greatest that the sampling allows, over the
    correlation time τ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """What was normal; never changed after it was fitted."""

    id: str
    """Names the calibration; a detector's state belongs to exactly one."""
    mapper: Mapper
    level: MeanCurve
    spread: MeanCurve
    spread_scale: float
    """q: a squared deviation that counts as 1."""
    slope: float
    """Change of the mapped signal per unit of achieved share; 0 where not significant."""
    average_share: float | None
    deviation: float
    """Standard deviation around the level curve."""
    mean: float
    """Weighted mean of the stored values, in the signal's own unit."""
    least_probability: float
    """Least π of its records: what `observe` is handed, so that a stake does not depend on
    records that come later."""
    records: int
    clusters: int
    since: float
    until: float
    """First and last record, in seconds since the epoch."""
    confidence: float
    delta: float

    def stored(self) -> dict[str, Any]:
        """Plain data for a JSON column; `restore_reference` is its inverse."""
        return asdict(self)

    def adjusted(
        self, values: FloatArray, times: FloatArray, *, shares: FloatArray | None = None
    ) -> FloatArray:
        """Mapped values with the effects of share and hour taken out: for whole windows."""
        curve = self.level.mean(times) - self.level.average
        return self._mapped(values, shares) - curve

    def observe(
        self,
        values: FloatArray,
        times: FloatArray,
        *,
        probabilities: FloatArray | None = None,
        least_probability: float | None = None,
        shares: FloatArray | None = None,
    ) -> Observations:
        """Stored scores (n,) as observations for the e-detector.

        A record with probability π stakes π_min/π of a full bet, which makes the null the
        one about the *weighted* mean. `least_probability` is π_min, known beforehand (the
        least rate that sampling may use); without it π_min is the least of this batch.
        Where records resemble the ones before them (τ > 1), each stakes 1/τ of that: τ of
        them together are one bet, as they are worth one record.
        """
        check_length("times", len(times), len(values))
        level = self._mapped(values, shares)
        deviation = (level - self.level.mean(times)) ** 2
        spread = np.minimum(deviation / self.spread_scale, 1.0)
        curves = (self.level, self.level, self.spread, self.spread)
        limits = [*self._limits(self.level, times), *self._limits(self.spread, times)]
        weights = inverse(probabilities, len(values))
        greatest = float(weights.max()) if least_probability is None else 1 / least_probability
        return Observations(
            times=times,
            values=np.stack([level, 1 - level, spread, 1 - spread]),
            limits=np.stack(limits),
            stakes=np.stack(
                [np.minimum(weights / greatest, 1.0) / curve.correlation_time for curve in curves]
            ),
        )

    def band(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper limit of the level at each time: what a picture shades."""
        above, below = self._limits(self.level, times)
        return 1 - below, above

    def _limits(self, curve: MeanCurve, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, margin = curve.mean(times), curve.margin(times, self.confidence) + self.delta
        # Above 1 a limit cannot be exceeded: that direction is blind there, rightly so. The
        # floor keeps the greatest bet, 1/limit, finite where a curve dips below zero.
        return np.clip(mean + margin, self.delta, 1.0), np.clip(1 - mean + margin, self.delta, 1.0)

    def _mapped(self, values: FloatArray, shares: FloatArray | None) -> FloatArray:
        return without_share(self.mapper.unit(values), shares, self.slope, self.average_share)


def restore_reference(stored: Mapping[str, Any]) -> Reference:
    """A reference from what `Reference.stored` gave, also after a round trip through JSON.

    Raises `MalformedInput` where it was written by a version with other fields.
    """
    try:
        curves = {name: restore_curve(stored[name]) for name in ("level", "spread")}
        return Reference(**{**stored, **curves, "mapper": restore_mapper(stored["mapper"])})
    except (KeyError, TypeError) as error:
        raise MalformedInput(
            "reference",
            f"stored by another version ({error})",
            "run `hss-monitor calibrate` again",
        ) from None


def without_share(
    mapped: FloatArray, shares: FloatArray | None, slope: float, average: float | None
) -> FloatArray:
    """Mapped values (n,) as they were at the `average` share; unchanged where it is `None`.

    Raises `MalformedInput` without the shares that the reference has.
    """
    if average is None:
        return mapped
    if shares is None:
        raise MalformedInput(
            "shares", "missing, but the reference has them", "hand in each record's mean share"
        )
    check_length("shares", len(shares), len(mapped))
    return np.clip(mapped - slope * (shares - average), 0.0, 1.0)
