"""The e-detector: its arithmetic by hand, its promise and its change point by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.drift.edetector import (
    CEILING,
    DIRECTIONS,
    FRACTIONS,
    accumulate,
    advance,
    alarm_threshold,
    bet,
    no_evidence,
)
from monitor.drift.reference import Observations
from monitor.errors import MalformedInput


def _observations(x: np.ndarray, limit: float = 0.5) -> Observations:
    """A level of `x` against one limit up; the other directions see nothing."""
    silent = np.zeros(len(x))
    return Observations(
        times=np.arange(len(x), dtype=float),
        values=np.stack([x, silent, silent, silent]),
        limits=np.full((4, len(x)), limit),
        stakes=np.ones((4, len(x))),
    )


def test_two_records_by_hand() -> None:
    """m = 0.5, x = 1 then 0: L = 1 + γ, then 1 − γ; M₁ = L₁, M₂ = (M₁ + 1)·L₂."""
    evidence = advance(no_evidence(), _observations(np.array([1.0, 0.0])), threshold=1e9)
    expected = (2 + FRACTIONS) * (1 - FRACTIONS)
    assert evidence.sums[0] == pytest.approx(expected.tolist())
    assert evidence.value[0] == pytest.approx(expected.mean())


def test_a_bet_loses_at_most_its_fraction() -> None:
    """No record may wipe out the evidence: the least factor is 1 − γ, at x = 0."""
    assert bet(np.array([0.0]), np.array([0.3]))[0] == pytest.approx((1 - FRACTIONS).tolist())


def test_a_bet_is_fair_at_the_limit_itself() -> None:
    """Mean 1 for a mean of m, exactly, whatever the stake: what the guarantee rests on."""
    bets = bet(np.array([0.0, 1.0]), np.array([0.25, 0.25]), stakes=0.4)
    assert 0.75 * bets[0] + 0.25 * bets[1] == pytest.approx(np.ones(len(FRACTIONS)))


def test_the_expected_sum_grows_by_one_a_record() -> None:
    """E[M_t] = t at the limit: M is a Shiryaev–Roberts sum, 20,000 runs of 10 records."""
    rng = np.random.default_rng(1)
    sums = np.zeros((20_000, len(FRACTIONS)))
    for _ in range(10):
        sums = accumulate(sums, bet((rng.random(20_000) < 0.5).astype(float), np.array(0.5)))
    assert sums.mean(axis=0) == pytest.approx(np.full(len(FRACTIONS), 10.0), rel=0.15)


def test_average_run_length_is_at_least_the_threshold() -> None:
    """The promise, in its hardest case: the mean lies exactly at the limit (c = 100)."""
    rng = np.random.default_rng(2)
    streams, horizon, threshold = 1000, 2000, 100.0
    sums = np.zeros((streams, len(FRACTIONS)))
    length = np.full(streams, horizon)
    for index in range(horizon):
        sums = accumulate(sums, bet(rng.beta(2, 8, streams), np.array(0.2)))
        crossed = (sums.mean(axis=1) >= threshold) & (length == horizon)
        length[crossed] = index + 1
    assert length.mean() >= threshold


def test_it_stops_at_the_record_that_completes_the_evidence() -> None:
    """The records behind an alarm belong to the recovery, not to the evidence."""
    evidence = advance(no_evidence(), _observations(np.ones(100)), threshold=50.0)
    before = advance(no_evidence(), _observations(np.ones(evidence.records - 1)), threshold=1e9)
    assert max(evidence.value) >= 50.0 > max(before.value)


def test_the_change_point_is_near_the_true_one() -> None:
    """ "Since when" is what the person on call asks first: 100 changes after 300 records."""
    errors = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.beta(2, 8, 700) + 0.15 * (np.arange(700) >= 300)
        evidence = advance(no_evidence(), _observations(np.clip(x, 0, 1), 0.235), threshold=1e5)
        assert max(evidence.value) >= 1e5
        errors.append(evidence.onset(0) - 300)
    assert abs(np.median(errors)) <= 5
    assert np.percentile(np.abs(errors), 90) <= 40


def test_the_onset_is_the_record_after_the_last_restart_by_hand() -> None:
    """m = 0.5, γ = 0.85: x = 1 gives C = 1.85, x = 0 then 0.28 < 1, so the run begins anew."""
    x = np.array([1.0, 0.0, 0.65, 0.65])
    evidence = advance(no_evidence(), _observations(x), threshold=1e9)
    assert evidence.onsets[0][-1] == 2.0


def test_endless_evidence_stays_finite() -> None:
    """A year of drift may not overflow into infinity, which no database column takes."""
    evidence = advance(no_evidence(), _observations(np.ones(5000)), threshold=1e300)
    assert max(evidence.sums[0]) == CEILING


def test_before_any_record_there_is_no_onset() -> None:
    """Unknown is None."""
    assert no_evidence().onset(DIRECTIONS.index("spread_up")) is None


def test_the_threshold_counts_everything_that_could_alarm() -> None:
    """3 series × 8 signals × 4 directions × 3,600 records in the promised time."""
    assert alarm_threshold(series=3, signals=8, records=3600) == 3 * 8 * 4 * 3600
    with pytest.raises(MalformedInput, match=r"series: 0 is not positive"):
        alarm_threshold(series=0, signals=8, records=3600)
