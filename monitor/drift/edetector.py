"""The sequential e-detector: a page with a stated expected time between false alarms.

For values x_t in [0, 1] whose conditional mean stays ≤ m_t before a change, each bet

    L_t(γ) = 1 + γ · w_t · (x_t − m_t)/m_t,   0 < γ < 1,

has conditional mean ≤ 1 (stake w_t in (0, 1], m_t and w_t known before x_t). Each is gathered
the Shiryaev–Roberts way, as the sum over all moments at which betting might have begun,

    M_t(γ) = (M_{t−1}(γ) + 1) · L_t(γ),   M_0 = 0,

and the mixture E_t = mean over γ of M_t(γ) is an e-detector: E[E_τ] ≤ E[τ] at every stopping
time τ. So the first time with E_t ≥ c comes, on average, after at least c records while
nothing has changed, whatever the distribution. E-detectors add up: with `n` of them run side
by side at c, the average is at least c/n (see `alarm_threshold`). The bound is one on the
*mean*: it does not say that each of many streams stays silent for c records.

Beside each M_t(γ) runs its maximum form C_t = max(C_{t−1}, 1) · L_t, whose last restart
estimates when the change began.

What it assumes: the mean *given the past* stays below m_t. Records that resemble the ones
before them break that; then stakes are divided by the correlation time of the reference,
which brings false alarms down from 72 % to 12 % of streams of 5,000 records at ρ = 0.5
(`simulate`, scenario `stable_ar`), but is no proof. What it does not see: changes smaller
than δ, on purpose.

Source: Shin, Ramdas and Rinaldo, E-detectors: a nonparametric framework for sequential
change detection (2022), sections 2 and 4; the bets are those of Waudby-Smith and Ramdas,
Estimating means of bounded random variables by betting (2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.drift.reference import Observations
from monitor.errors import MalformedInput
from monitor.records import FloatArray

DIRECTIONS = ("level_up", "level_down", "spread_up", "spread_down")
"""The one-sided detectors of a signal: its mean and its squared deviation, up and down."""

FRACTIONS: FloatArray = np.array([0.1, 0.25, 0.45, 0.65, 0.85])
"""γ: shares of the greatest bet that cannot ruin. Small ones find small changes, great ones
find great changes early; each costs the others log 5 of evidence. Chosen on shifts of +0.1."""

CEILING = 1e100
"""Evidence is cut here, far beyond any threshold: lowering an e-detector keeps it valid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """State of the four detectors of a signal after some records; plain numbers, to be stored."""

    sums: tuple[tuple[float, ...], ...]
    """M_t(γ): one row a direction, one number a fraction."""
    peaks: tuple[tuple[float, ...], ...]
    """C_t(γ)."""
    onsets: tuple[tuple[float | None, ...], ...]
    """Time of the first record since C_t(γ) last restarted; `None` before any record."""
    records: int

    @property
    def value(self) -> tuple[float, ...]:
        """E_t of each direction."""
        return tuple(sum(row) / len(row) for row in self.sums)

    def onset(self, direction: int) -> float | None:
        """When the change of this direction began, by the bet with most evidence."""
        row = self.sums[direction]
        return self.onsets[direction][row.index(max(row))]


def no_evidence() -> Evidence:
    """The state before the first record, and after every recalibration and recovery."""
    rows, bets = len(DIRECTIONS), len(FRACTIONS)
    return Evidence(
        sums=((0.0,) * bets,) * rows,
        peaks=((0.0,) * bets,) * rows,
        onsets=((None,) * bets,) * rows,
        records=0,
    )


def bet(values: FloatArray, limits: FloatArray, stakes: FloatArray | float = 1.0) -> FloatArray:
    """L_t for all fractions: shapes (...) → (..., fractions), all > 0."""
    edge = np.asarray(stakes * (values - limits) / limits)
    return np.asarray(1.0 + edge[..., None] * FRACTIONS, dtype=np.float64)


def accumulate(sums: FloatArray, bets: FloatArray) -> FloatArray:
    """M_t from M_{t−1}, both (..., fractions)."""
    return np.minimum((sums + 1.0) * bets, CEILING)


def advance(evidence: Evidence, observations: Observations, *, threshold: float) -> Evidence:
    """Take in records in their order, up to the first at which a direction reaches `threshold`.

    The caller sees from `records` how many were taken. 30 µs a record.
    """
    sums, peaks = np.array(evidence.sums), np.array(evidence.peaks)
    onsets = np.array(evidence.onsets, dtype=np.float64)
    taken = 0
    for time, bets in zip(
        observations.times,
        bet(observations.values, observations.limits, observations.stakes).swapaxes(0, 1),
        strict=True,
    ):
        onsets = np.where(peaks <= 1.0, time, onsets)
        peaks = np.minimum(np.maximum(peaks, 1.0) * bets, CEILING)
        sums = accumulate(sums, bets)
        taken += 1
        if sums.mean(axis=1).max() >= threshold:
            break
    return Evidence(
        sums=tuple(map(tuple, sums.tolist())),
        peaks=tuple(map(tuple, peaks.tolist())),
        onsets=tuple(
            tuple(None if np.isnan(time) else time for time in row) for row in onsets.tolist()
        ),
        records=evidence.records + taken,
    )


def alarm_threshold(*, series: int, signals: int, records: float) -> float:
    """c for a promise over the whole installation.

    With c = series × signals × directions × `records`, the expected time between false
    alarms is at least the time in which one series is expected to score `records` records,
    over all series, signals and directions together.

    >>> alarm_threshold(series=3, signals=8, records=3600)
    345600.0
    """
    for name, count in (("series", series), ("signals", signals), ("records", records)):
        if count <= 0:
            raise MalformedInput(name, f"{count!r} is not positive", "count what is watched")
    return float(max(series * signals * len(DIRECTIONS) * records, 1.0))
