"""The level of the comparison of two groups without a difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, norm

from monitor.drift.difference import difference

RNG = np.random.default_rng(0)
Pair = dict[str, Any]


def _plain(first: int, second: int) -> Pair:
    return {"first": RNG.beta(2, 8, first), "second": RNG.beta(2, 8, second)}


def _weighted(count: int) -> Pair:
    rates = [0.05, 0.2, 1.0]
    return _plain(count, count) | {
        "first_probabilities": RNG.choice(rates, count),
        "second_probabilities": RNG.choice(rates, count),
    }


def _traces(count: int) -> Pair:
    """Four records a trace, alike."""
    labels = np.repeat(np.arange(count // 4), 4)

    def values() -> np.ndarray:
        return 0.7 * RNG.beta(2, 8, count // 4)[labels] + 0.3 * RNG.beta(2, 8, count)

    return {
        "first": values(),
        "second": values(),
        "first_traces": labels,
        "second_traces": labels,
    }


def _correlated(count: int, rho: float) -> Pair:
    def values() -> np.ndarray:
        steps = RNG.normal(size=count)
        for index in range(1, count):
            steps[index] = rho * steps[index - 1] + np.sqrt(1 - rho**2) * steps[index]
        return np.asarray(beta.ppf(norm.cdf(steps), 2, 8))

    return {"first": values(), "second": values()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "runs", "most"),
    [
        (lambda: _plain(20, 20), 4000, 0.065),
        (lambda: _plain(15, 200), 4000, 0.07),
        (lambda: _plain(100, 100), 4000, 0.06),
        (lambda: _weighted(40), 4000, 0.07),
        (lambda: _weighted(100), 4000, 0.06),
        (lambda: _traces(160), 2000, 0.06),
        (lambda: _correlated(300, 0.3), 1500, 0.085),
        (lambda: _correlated(200, 0.5), 1500, 0.09),
        (lambda: _correlated(1000, 0.5), 600, 0.095),
    ],
    ids=[
        "n20",
        "n15_200",
        "n100",
        "weighted40",
        "weighted100",
        "traces",
        "ar03",
        "ar05",
        "ar05_long",
    ],
)
def test_groups_without_a_difference_show_one_about_as_often_as_stated(
    make: Callable[[], Pair], runs: int, most: float
) -> None:
    """The README's and the docstring's figures, with the error of so many runs."""
    found = [difference(**make()).p for _ in range(runs)]
    level = float(np.mean([p < 0.05 for p in found if p is not None]))
    assert 0.035 <= level <= most
