"""The frozen reference: its limits, the daily cycle, the share, and when there is none."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from monitor.drift.correlation import correlation_time, significant_correlation_time
from monitor.drift.cycle import fit_curve
from monitor.drift.fitting import fit_reference
from monitor.drift.reference import Insufficient, Lacking, Reference
from monitor.drift.signals import Scale
from monitor.errors import MalformedInput


def test_without_a_cycle_the_limit_is_mean_plus_t_times_error_plus_delta(stable, clock) -> None:
    """m_t by the textbook: the upper 99 % limit of the mean, and 0.02 on top."""
    values = stable(500)
    reference = fit_reference(values, clock(500), id="r")
    expected = values.mean() + stats.t.ppf(0.99, 499) * stats.sem(values) + 0.02
    low, high = reference.band(np.array([0.0, 40_000.0]))
    assert reference.level.harmonics == 0
    assert high == pytest.approx([expected, expected])
    assert low == pytest.approx(2 * values.mean() - high)


def test_a_daily_cycle_moves_the_limit_with_the_hour(stable, clock) -> None:
    """At its peak a cycle of ±0.05 may not look like drift, at its trough not hide it."""
    times = clock(500)
    values = np.clip(stable(500) + 0.05 * np.sin(2 * np.pi * times / 86400), 0, 1)
    reference = fit_reference(values, times, id="r")
    peak, trough = reference.level.mean(np.array([6.0, 18.0]) * 3600)
    assert reference.level.harmonics == 1
    assert peak - trough == pytest.approx(0.1, abs=0.035)


def test_a_second_harmonic_is_found_where_there_is_one(clock) -> None:
    """Two peaks a day, as office traffic has them."""
    times = clock(600)
    values = 0.3 + 0.1 * np.cos(4 * np.pi * times / 86400)
    values = values + np.random.default_rng(1).normal(0, 0.05, 600)
    assert fit_curve(values, times, np.ones(600)).harmonics == 2


def test_the_first_harmonics_test_holds_its_level(stable, clock) -> None:
    """5 % of references without a cycle may show one: 300 runs, binomial 99.9 % limits."""
    times = clock(300)
    curves = [fit_curve(stable(300, seed), times, np.ones(300)) for seed in range(300)]
    found = sum(curve.cycle_p < 0.05 for curve in curves)
    assert stats.binom.ppf(0.0005, 300, 0.05) <= found <= stats.binom.ppf(0.9995, 300, 0.05)


def test_resemblance_of_neighbours_is_not_taken_for_a_cycle(clock) -> None:
    """AR(1) with ρ = 0.5 and no cycle: unadjusted 36 % would show one, adjusted 12 %."""
    found = 0
    for seed in range(200):
        noise = np.random.default_rng(seed).normal(0, 0.1, 500)
        values = lfilter([1.0], [1.0, -0.5], noise)
        found += fit_curve(values, clock(500), np.ones(500)).cycle_p < 0.05
    assert found / 200 < 0.2


def test_hours_without_records_get_a_wide_limit(stable) -> None:
    """A reference of office hours knows nothing about the night."""
    hours = np.concatenate([day * 24 + 9 + np.arange(100) / 12.5 for day in range(5)])
    values = np.clip(stable(500) + 0.05 * np.sin(2 * np.pi * hours / 24), 0, 1)
    curve = fit_curve(values, hours * 3600, np.ones(500))
    noon, night = curve.margin(np.array([13.0, 3.0]) * 3600, 0.99)
    assert curve.harmonics >= 1
    assert night > 3 * noon


@pytest.mark.parametrize(
    ("count", "rate", "reason"),
    [(199, 1.0, Lacking.TOO_FEW_RECORDS), (500, 50.0, Lacking.NO_FULL_CYCLE)],
)
def test_too_little_is_insufficient_with_its_reason(
    stable, clock, count: int, rate: float, reason: Lacking
) -> None:
    """199 records, or 500 within ten hours: no limit, and no pretence of one."""
    fitted = fit_reference(stable(count), clock(count, rate=rate), id="r")
    assert isinstance(fitted, Insufficient)
    assert fitted.reason is reason


def test_a_larger_share_of_replaced_words_is_no_drift(clock) -> None:
    """D rises with the share; when more words happened to be replaced, that is taken out."""
    rng = np.random.default_rng(4)
    shares = rng.uniform(0.05, 0.25, 500)
    times = clock(500)
    reference = fit_reference(
        2 * (0.1 + shares) + rng.normal(0, 0.05, 500),
        times,
        id="r",
        scale=Scale.DISTANCE,
        shares=shares,
    )
    assert reference.slope == pytest.approx(1.0, abs=0.1)
    seen = reference.observe(np.array([0.7]), np.array([0.0]), shares=np.array([0.25]))
    assert seen.values[0, 0] == pytest.approx(0.35 - 0.1, abs=0.015)
    with pytest.raises(MalformedInput, match="shares: missing"):
        reference.observe(np.array([0.7]), np.array([0.0]))


def test_an_insignificant_slope_stays_out(stable, clock) -> None:
    """Adjusting by noise would only add noise."""
    shares = np.random.default_rng(9).uniform(0.05, 0.25, 500)
    reference = fit_reference(stable(500), clock(500), id="r", shares=shares)
    assert reference.slope == 0.0


def test_rare_records_stake_in_full_and_frequent_ones_in_proportion(reference) -> None:
    """π = 0.5 beside π = 0.05: a tenth of the bet, so the null is the one of the weighted mean."""
    seen = reference.observe(
        np.array([0.2, 0.2]), np.array([0.0, 1.0]), probabilities=np.array([0.5, 0.05])
    )
    assert seen.stakes[0] == pytest.approx([0.1, 1.0])


def test_a_signal_without_any_spread_still_has_limits(clock) -> None:
    """The null distance of a deterministic model is always 0."""
    reference = fit_reference(np.zeros(300), clock(300), id="r", scale=Scale.DISTANCE)
    low, high = reference.band(np.array([0.0]))
    assert (low[0], high[0]) == pytest.approx((0.0, 0.02))
    jump = reference.observe(np.array([0.5]), np.array([0.0]))
    assert jump.values[2, 0] == 1.0


def test_correlation_time_of_ar1_is_the_known_one() -> None:
    """(1 + ρ)/(1 − ρ) = 3 for ρ = 0.5, and 1 without correlation."""
    rng = np.random.default_rng(5)
    noise = rng.normal(size=20_000)
    chain = [0.0]
    for step in noise:
        chain.append(0.5 * chain[-1] + step)
    assert correlation_time(np.array(chain)) == pytest.approx(3.0, rel=0.1)
    assert significant_correlation_time(rng.normal(size=500)) == 1.0


def test_correlated_records_widen_the_limit_and_lower_the_stakes(clock) -> None:
    """2,000 records that come in tens of equal value are worth 200."""
    values = np.repeat(np.random.default_rng(6).beta(2, 8, 200), 10)
    reference = fit_reference(values, clock(2000), id="r")
    tau = reference.level.correlation_time
    assert tau == pytest.approx(10, rel=0.25)
    seen = reference.observe(np.array([0.2]), np.array([0.0]))
    assert seen.stakes[0, 0] == pytest.approx(1 / tau)
    plain = stats.t.ppf(0.99, 1999) * stats.sem(values)
    margin = reference.level.margin(np.array([0.0]), 0.99)[0]
    assert reference.level.harmonics == 0
    assert margin == pytest.approx(plain * tau**0.5)


def test_the_spread_of_correlated_records_is_as_correlated_as_they_are(clock) -> None:
    """Its own values hardly show it here: the sign of a deviation holds for ten records, its size
    does not."""
    rng = np.random.default_rng(7)
    signs = np.repeat(rng.choice([-1.0, 1.0], 200), 10)
    values = np.clip(0.5 + signs * rng.uniform(0.05, 0.15, 2000), 0, 1)
    fitted = fit_reference(values, clock(2000), id="r")
    assert fitted.level.correlation_time > 5
    assert fitted.spread.correlation_time == fitted.level.correlation_time


def test_a_reference_is_plain_data(reference: Reference) -> None:
    """It is stored as a JSON row beside its calibration."""
    assert json.loads(json.dumps(asdict(reference)))["records"] == 500


@pytest.mark.parametrize("delta", [0.0, 0.5, -0.1])
def test_an_impossible_tolerance_is_refused(stable, clock, delta: float) -> None:
    """δ = 0 breaks the hourly limits' promise, and 0.5 would blind every direction."""
    with pytest.raises(MalformedInput, match=r"delta.*\(0, 0\.5\)"):
        fit_reference(stable(300), clock(300), id="r", delta=delta)
