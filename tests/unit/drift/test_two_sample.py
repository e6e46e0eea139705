"""PSI, KS and Wasserstein against independent libraries, and their p-values."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import stats

from monitor.drift.correction import holm
from monitor.drift.ks import ks
from monitor.drift.permutation import BlockTest, Pooled, block_test, pool
from monitor.drift.psi import psi
from monitor.drift.reference import Insufficient, Lacking
from monitor.drift.wasserstein import wasserstein


def _value(statistic, pooled: Pooled) -> float:
    return float(statistic(pooled, pooled.observed[:, pooled.blocks] * pooled.weights)[0])


@pytest.fixture
def samples() -> tuple[np.ndarray, np.ndarray]:
    """Rounded, so that values tie within and between the samples."""
    rng = np.random.default_rng(1)
    return rng.beta(2, 8, 300).round(2), rng.beta(3, 7, 200).round(2)


def test_ks_is_scipys_also_with_ties(samples) -> None:
    """Ties between the samples are where a careless KS goes wrong."""
    expected = stats.ks_2samp(*samples).statistic
    assert _value(ks, pool(*samples, block=1)) == pytest.approx(expected)


def test_weighted_wasserstein_is_scipys(samples) -> None:
    """Weights 1/π belong to their records through all the sorting."""
    rng = np.random.default_rng(2)
    before, now = rng.uniform(0.1, 1, 300), rng.uniform(0.1, 1, 200)
    pooled = pool(*samples, block=1, reference_probabilities=before, current_probabilities=now)
    expected = stats.wasserstein_distance(*samples, 1 / before, 1 / now)
    assert _value(wasserstein, pooled) == pytest.approx(expected)


def test_weighting_equals_repeating() -> None:
    """A record with probability 1/2 counts like two records, in every statistic."""
    few, now = np.array([0.1, 0.2, 0.7]), np.linspace(0, 1, 12)
    weighted = pool(few, now, block=1, reference_probabilities=np.array([1.0, 0.5, 1.0]))
    repeated = pool(np.array([0.1, 0.2, 0.2, 0.7]), now, block=1)
    for statistic in (ks, wasserstein):
        assert _value(statistic, weighted) == pytest.approx(_value(statistic, repeated))


def test_psi_by_hand() -> None:
    """Two values only: one edge between them, shares (8.5, 2.5)/11 and (3.5, 7.5)/11."""
    before, now = np.repeat([0.0, 1.0], [8, 2]), np.repeat([0.0, 1.0], [3, 7])
    expected = (3.5 - 8.5) / 11 * log(3.5 / 8.5) + (7.5 - 2.5) / 11 * log(7.5 / 2.5)
    assert _value(psi, pool(before, now, block=1)) == pytest.approx(expected)


@pytest.mark.parametrize("statistic", [ks, psi, wasserstein])
def test_a_shift_is_significant_and_its_absence_is_not(statistic) -> None:
    """With 999 permutations the least p is 0.001."""
    rng = np.random.default_rng(3)
    before, same, other = rng.beta(2, 8, 800), rng.beta(2, 8, 400), rng.beta(3, 7, 400)
    moved = block_test(statistic, before, other, seed=1)
    still = block_test(statistic, before, same, seed=1)
    assert isinstance(moved, BlockTest) and moved.p == pytest.approx(0.001)
    assert isinstance(still, BlockTest) and still.p > 0.05


def test_p_values_hold_their_level_on_resembling_records(studies) -> None:
    """Quick form of the benchmark: AR(1), ρ = 0.5; 5 % by blocks, far more by single records."""
    blocks, single, _ = studies.level_of("ar_0.5", ks, runs=100, permutations=99, naive_runs=60)
    assert blocks <= 0.12
    assert single >= 0.13


def test_blocks_are_at_least_ten_correlation_times() -> None:
    """Records that come in threes of equal value have τ = 3."""
    rng = np.random.default_rng(4)
    before, now = np.repeat(rng.random(1000), 3), np.repeat(rng.random(500), 3)
    test = block_test(ks, before, now, seed=1, permutations=99)
    assert isinstance(test, BlockTest)
    assert test.block >= 10 * test.correlation_time - 1e-9
    assert test.correlation_time == pytest.approx(3, rel=0.3)


@pytest.mark.parametrize(
    ("repeats", "count", "reason"),
    [(50, 1000, Lacking.TOO_CORRELATED), (1, 60, Lacking.TOO_FEW_RECORDS)],
)
def test_too_few_blocks_give_no_p_value(repeats: int, count: int, reason: Lacking) -> None:
    """Beyond what blocks can mend there is no number that would be wrong."""
    rng = np.random.default_rng(5)
    before = rng.random(1000)
    now = np.repeat(rng.random(count), repeats)[:count]
    test = block_test(ks, before, now, seed=1)
    assert isinstance(test, Insufficient)
    assert test.reason is reason


def test_the_same_seed_gives_the_same_p_value(samples) -> None:
    """A page must not come and go between two looks at the same records."""
    assert block_test(ks, *samples, seed=6) == block_test(ks, *samples, seed=6)


def test_holm_by_hand() -> None:
    """Sorted .01, .02, .03, .04 × 4, 3, 2, 1 = .04, .06, .06, .04, made monotone."""
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_keeps_the_error_rate_over_many_series() -> None:
    """Of 20 true nulls at once, any is rejected in about 5 % of 2,000 rounds."""
    rng = np.random.default_rng(7)
    rounds = [min(holm(rng.random(20).tolist())) < 0.05 for _ in range(2000)]
    assert 0.035 < np.mean(rounds) < 0.065
