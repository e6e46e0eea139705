"""Weighted means: golden values by hand, intervals against scipy, coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from monitor.drift.hajek import hajek_mean
from monitor.errors import MalformedInput


def test_each_record_counts_one_over_its_probability() -> None:
    """A record kept with probability 1/4 stands for four: (0·1 + 1·4) / 5."""
    estimate = hajek_mean(np.array([0.0, 1.0]), probabilities=np.array([1.0, 0.25]))
    assert estimate.value == pytest.approx(0.8)
    assert estimate.effective_records == pytest.approx(25 / 17)


def test_variance_is_the_linearized_one_by_hand() -> None:
    """w = 1, 4; residuals −0.8/5 and 0.8/5; V = 2/1 · 2 · 0.16²."""
    estimate = hajek_mean(np.array([0.0, 1.0]), probabilities=np.array([1.0, 0.25]))
    assert estimate.std_error == pytest.approx((2 * 2 * 0.16**2) ** 0.5)


def test_equal_weights_give_the_ordinary_t_interval() -> None:
    """With equal probabilities nothing but the textbook interval may come out."""
    values = np.random.default_rng(1).beta(2, 8, 40)
    estimate = hajek_mean(values, probabilities=np.full(40, 0.1))
    low, high = stats.t.interval(0.95, 39, loc=values.mean(), scale=stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx((low, high))


def test_copies_within_a_trace_add_no_certainty() -> None:
    """Five copies of each record under one trace id know as much as one."""
    values = np.random.default_rng(2).beta(2, 8, 30)
    once = hajek_mean(values)
    copied = hajek_mean(np.repeat(values, 5), clusters=np.repeat(np.arange(30), 5))
    assert copied.std_error == pytest.approx(once.std_error)
    assert (copied.records, copied.clusters) == (150, 30)


def test_one_trace_has_no_interval() -> None:
    """Unknown is None: a single draw says nothing about its error."""
    estimate = hajek_mean(np.array([0.1, 0.3]), clusters=np.array(["a", "a"]))
    assert (estimate.value, estimate.std_error, estimate.low) == (pytest.approx(0.2), None, None)


def test_interval_covers_the_known_mean_of_an_unequally_sampled_stream(studies) -> None:
    """Quick form of the benchmark: 93–97 % of 1,000 runs there, here a wider net of 300."""
    share, bias, naive = studies.coverage_of_unequal_sampling(runs=300, seed=3)
    assert 0.915 <= share <= 0.98
    assert abs(bias) < 0.004
    assert naive > 0.1, (
        "without weights the estimate has to be visibly wrong, or this proves nothing"
    )


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.5, float("nan")])
def test_an_impossible_probability_is_refused(probability: float) -> None:
    """A weight of 1/0 would let one record decide everything."""
    with pytest.raises(MalformedInput, match=r"probabilities.*inclusion probability"):
        hajek_mean(np.array([0.1, 0.2]), probabilities=np.array([1.0, probability]))


@pytest.mark.parametrize("values", [[], [float("nan"), 1.0]])
def test_missing_values_are_refused_instead_of_counted(values: list[float]) -> None:
    """What was not computed is left out by the caller, never averaged as NaN or 0."""
    with pytest.raises(MalformedInput, match="values"):
        hajek_mean(np.array(values))
