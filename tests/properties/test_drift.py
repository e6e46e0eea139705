"""What holds of the drift statistics for every input."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from monitor.drift.correction import holm
from monitor.drift.edetector import FRACTIONS, accumulate, bet
from monitor.drift.hajek import hajek_mean
from monitor.drift.ks import ks
from monitor.drift.permutation import BlockTest, Pooled, block_test, pool
from monitor.drift.psi import psi
from monitor.drift.signals import Scale, fit_mapper
from monitor.drift.wasserstein import wasserstein

unit = st.floats(0, 1, allow_subnormal=False)
samples = npst.arrays(np.float64, st.integers(2, 40), elements=unit)
p_values = st.lists(unit, min_size=1, max_size=30)


def _value(statistic, pooled: Pooled) -> float:
    return float(statistic(pooled, pooled.observed[:, pooled.blocks] * pooled.weights)[0])


@given(samples, samples)
def test_statistics_are_symmetric_non_negative_and_bounded(
    before: np.ndarray, now: np.ndarray
) -> None:
    """Which sample came first does not change how far they lie apart."""
    there, back = pool(before, now, block=1), pool(now, before, block=1)
    for statistic, greatest in ((ks, 1.0), (wasserstein, 1.0), (psi, np.inf)):
        value = _value(statistic, there)
        assert -1e-12 <= value <= greatest + 1e-12
        assert np.isclose(value, _value(statistic, back), atol=1e-9)


@given(samples)
def test_a_sample_does_not_differ_from_itself(values: np.ndarray) -> None:
    """Zero for equal samples, ties and all."""
    pooled = pool(values, values, block=1)
    for statistic in (ks, wasserstein, psi):
        assert abs(_value(statistic, pooled)) < 1e-9


@given(samples, samples)
def test_wasserstein_is_at_least_the_difference_of_means(
    before: np.ndarray, now: np.ndarray
) -> None:
    """By duality, with the identity as test function."""
    gap = abs(before.mean() - now.mean())
    assert _value(wasserstein, pool(before, now, block=1)) >= gap - 1e-9


@given(samples, samples, samples)
def test_wasserstein_keeps_the_triangle_inequality(
    a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> None:
    """It is a metric."""
    ab, bc, ac = (_value(wasserstein, pool(*pair, block=1)) for pair in ((a, b), (b, c), (a, c)))
    assert ac <= ab + bc + 1e-9


@given(st.floats(0.01, 1), unit, st.floats(0.001, 1))
def test_evidence_is_never_negative_and_a_higher_value_never_weakens_it(
    limit: float, value: float, stake: float
) -> None:
    """Monotone in the record, positive whatever comes."""
    limits = np.array([limit, limit])
    lower, higher = bet(np.array([value, min(value + 0.1, 1.0)]), limits, stake)
    assert (lower > 0).all()
    assert (higher >= lower).all()
    sums = np.ones(len(FRACTIONS))
    assert (accumulate(sums, higher) >= accumulate(sums, lower)).all()


@given(st.floats(0.01, 1), unit, st.floats(0.001, 1))
def test_no_distribution_below_the_limit_gains_on_average(
    limit: float, top: float, stake: float
) -> None:
    """Any two-point distribution on 0 and `top` with mean ≤ m has mean factor ≤ 1."""
    chance = 1.0 if top <= limit else limit / top
    at_zero, at_top = bet(np.array([0.0, top]), np.array([limit, limit]), stake)
    assert ((1 - chance) * at_zero + chance * at_top <= 1 + 1e-12).all()


@given(samples, st.floats(0.01, 1))
def test_the_weighted_mean_lies_within_the_values_and_ignores_a_common_rate(
    values: np.ndarray, rate: float
) -> None:
    """Halving every sampling rate changes no estimate."""
    whole = hajek_mean(values)
    sampled = hajek_mean(values, probabilities=np.full(len(values), rate))
    assert values.min() - 1e-12 <= whole.value <= values.max() + 1e-12
    assert np.isclose(whole.value, sampled.value)
    assert np.isclose(whole.std_error or 0.0, sampled.std_error or 0.0)


@given(samples, samples)
def test_ranks_are_monotone_and_in_the_unit_interval(
    reference: np.ndarray, values: np.ndarray
) -> None:
    """A longer summary never has a lower rank."""
    mapper = fit_mapper(Scale.RANK, reference, np.ones(len(reference)))
    mapped = mapper.unit(np.sort(values))
    assert ((mapped >= 0) & (mapped <= 1)).all()
    assert (np.diff(mapped) >= 0).all()


@given(p_values)
def test_holm_never_lowers_a_p_value_and_keeps_their_order(values: list[float]) -> None:
    """Corrected means harder to reach, for each, by at most the number of tests."""
    adjusted = holm(values)
    for p, corrected in zip(values, adjusted, strict=True):
        assert p <= corrected <= min(1.0, len(values) * p) + 1e-12
    assert [adjusted[i] for i in np.argsort(values, kind="stable")] == sorted(adjusted)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_p_values_are_never_zero(seed: int) -> None:
    """A permutation p-value of 0 would survive every correction."""
    rng = np.random.default_rng(seed)
    test = block_test(ks, rng.random(200), 5 + rng.random(200), seed=seed, permutations=99)
    assert not isinstance(test, BlockTest) or 0.01 <= test.p <= 1
