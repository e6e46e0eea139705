"""The correlation of the demo's last line."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from monitor.demo.correlation import correlation


def pairs(count, *, seed=1):
    noise = np.random.default_rng(seed).normal(size=(count, 2))
    return [(x, x + y) for x, y in noise.tolist()]


def test_r_is_pearsons():
    """By SciPy."""
    sample = pairs(60)
    r, interval = correlation(sample)
    assert r == pytest.approx(pearsonr(*zip(*sample, strict=True)).statistic)
    low, high = interval
    assert low < r < high


def test_the_interval_covers_what_it_promises():
    """True r = 1/√2; 95 % of 100 samples of 60, within 4 standard errors."""
    held = 0
    for seed in range(100):
        _, (low, high) = correlation(pairs(60, seed=seed))
        held += low <= 0.5**0.5 <= high
    assert held >= 86


def test_equal_seeds_give_equal_intervals():
    """The demo's figures can be repeated."""
    assert correlation(pairs(30)) == correlation(pairs(30))


@pytest.mark.parametrize("sample", [[], [(0.1, 0.2)], [(0.1, None)] * 9, [(1.0, 0.2), (1.0, 0.3)]])
def test_no_correlation_is_none(sample):
    """A constant side or a single pair has none; 0 would be a claim."""
    assert correlation(sample) == (None, None)


def test_few_records_have_no_interval():
    """Nine points resampled say nothing about error."""
    r, interval = correlation(pairs(9))
    assert (r is None, interval) == (False, None)


def test_constant_resamples_do_not_spoil_the_interval():
    """One record differs: a third of the resamples leave it out and have no r."""
    _, (low, high) = correlation([(0.0, 0.0)] * 11 + [(1.0, 1.0)])
    assert (low, high) == pytest.approx((1.0, 1.0))
