"""Studies that the quick tests here and the full ones in `tests/benchmarks` share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from monitor.drift.hajek import hajek_mean
from monitor.drift.permutation import BlockTest, Statistic, block_test


def coverage_of_unequal_sampling(*, runs: int, seed: int) -> tuple[float, float, float]:
    """Two strata, one sampled ten times as often, whole traces at a time.

    Share of intervals with the truth, bias of the weighted mean, error of the plain one.
    """
    rng = np.random.default_rng(seed)
    rates, means = np.array([0.5, 0.05]), np.array([0.2, 0.5])
    truth = float(means.mean())
    covered, errors, plain = 0, [], []
    for _ in range(runs):
        traces = 3000
        stratum = rng.integers(0, 2, traces)
        size = rng.integers(1, 5, traces)
        kept = rng.random(traces) < rates[stratum]
        effect = rng.uniform(-0.15, 0.15, traces)
        trace = np.repeat(np.flatnonzero(kept), size[kept])
        values = means[stratum[trace]] + effect[trace] + rng.uniform(-0.05, 0.05, len(trace))
        estimate = hajek_mean(values, probabilities=rates[stratum[trace]], clusters=trace)
        covered += estimate.low <= truth <= estimate.high
        errors.append(estimate.value - truth)
        plain.append(abs(values.mean() - truth))
    return covered / runs, float(np.mean(errors)), float(np.mean(plain))


def _ar(rho: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        noise = rng.normal(size=count + 100)
        return lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], noise)[100:]

    return draw


def _minutes(rng: np.random.Generator, count: int) -> np.ndarray:
    """One to nine records a minute; half of their variance is the minute's."""
    minute = np.repeat(np.arange(count), rng.integers(1, 10, count))[:count]
    return np.sqrt(0.5) * (rng.normal(size=count)[minute] + rng.normal(size=count))


PROCESSES = {
    "ar_0": _ar(0.0),
    "ar_0.3": _ar(0.3),
    "ar_0.5": _ar(0.5),
    "ar_0.9": _ar(0.9),
    "minutes": _minutes,
}


def level_of(
    process: str, statistic: Statistic, *, runs: int, permutations: int, naive_runs: int = 100
) -> tuple[float | None, float, float]:
    """How often a test of two windows of one process finds p < 0.05.

    Shares by blocks (None where there never was a p-value) and by single records, and of
    insufficient tests.
    """
    rng = np.random.default_rng(101)
    draw = PROCESSES[process]
    p_values, naive, lacking = [], [], 0
    for seed in range(runs):
        before, now = draw(rng, 1500), draw(rng, 600)
        test = block_test(statistic, before, now, seed=seed, permutations=permutations)
        if isinstance(test, BlockTest):
            p_values.append(test.p)
        else:
            lacking += 1
        if seed < naive_runs:
            single = block_test(statistic, before, now, seed=seed, permutations=199, block=1)
            assert isinstance(single, BlockTest)
            naive.append(single.p)
    return (
        float(np.mean(np.array(p_values) < 0.05)) if p_values else None,
        float(np.mean(np.array(naive) < 0.05)),
        lacking / runs,
    )
