"""Two groups of records, compared by their weighted means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from monitor.drift.difference import difference
from monitor.errors import MalformedInput


def _independent(seed: int, first: int, second: int, shift: float = 0.0) -> list[np.ndarray]:
    """Two groups whose order shows no correlation (checked by the test that uses them)."""
    rng = np.random.default_rng(seed)
    return [rng.beta(2, 8, first), rng.beta(2, 5, second) + shift]


def test_equal_weights_give_welch_s_test() -> None:
    """SciPy's own, to the last digits: the ordinary case is the ordinary test."""
    one, two = _independent(3, 40, 90)
    found = difference(one, two)
    wanted = ttest_ind(two, one, equal_var=False)
    assert (found.first.correlation_time, found.second.correlation_time) == (1.0, 1.0)
    assert found.value == pytest.approx(two.mean() - one.mean())
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-9)
    interval = wanted.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_weights_say_which_mean_is_meant() -> None:
    """A record kept with probability ¼ stands for four: (1·0 + 4·1)/5."""
    first, second = np.array([0.0, 1.0] * 10), np.array([0.0, 1.0] * 10)
    found = difference(first, second, second_probabilities=np.array([1.0, 0.25] * 10))
    assert found.first.value == 0.5
    assert found.second.value == pytest.approx(0.8)


def test_records_of_one_trace_count_once() -> None:
    """Forty records of ten traces are worth ten: the interval is that of ten."""
    rng = np.random.default_rng(5)
    few = rng.beta(2, 8, 12), rng.beta(2, 8, 12)
    many = [np.repeat(values, 4) for values in few]
    labels = np.repeat(np.arange(12), 4)
    alone = difference(*few)
    together = difference(*many, first_traces=labels, second_traces=labels)
    assert together.p == pytest.approx(alone.p)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))


def test_correlated_records_widen_the_interval() -> None:
    """A slow wave through both groups: the plain test would see a difference in it."""
    wave = 0.3 + 0.1 * np.sin(np.arange(400) / 15)
    rng = np.random.default_rng(6)
    one, two = (wave + rng.normal(0, 0.01, 400) + shift for shift in (0.0, 0.02))
    found = difference(one, two)
    plain = ttest_ind(two, one, equal_var=False).confidence_interval()
    assert found.first.correlation_time > 5
    assert found.high - found.low > 2 * (plain.high - plain.low)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([0.1, 0.2, 0.3] * 3, [0.5, 0.6] * 20, "too_few_records"),
        ([0.1], [0.5, 0.6] * 20, "too_few_records"),
        ([1.0] * 20, [1.0] * 20, "no_spread"),
        ([0.2] * 60, [0.2] * 61, "no_spread"),
    ],
)
def test_what_cannot_be_judged_says_so(
    first: list[float], second: list[float], reason: str
) -> None:
    """The difference itself is known, its error is not."""
    found = difference(np.array(first), np.array(second))
    assert (found.low, found.high, found.p, found.reason) == (None, None, None, reason)
    assert found.value == pytest.approx(np.mean(second) - np.mean(first))


def test_an_empty_group_is_refused() -> None:
    """There is no mean to compare."""
    with pytest.raises(MalformedInput, match="second"):
        difference(np.array([0.1]), np.array([]))
