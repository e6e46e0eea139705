"""What one window says about a threshold: statistics by hand, limits, contributors."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.breaches.thresholds import Bound, Comparison, NoAnswer, Statistic, Threshold, evaluate
from monitor.breaches.window import Records, weighted_quantile
from monitor.errors import ConfigurationError, MalformedInput


def _threshold(**options) -> Threshold:
    return Threshold(
        **{"name": "hss", "signal": "hss", "limit": Bound(value=0.5), "min_records": 1, **options}
    )


def test_the_mean_is_weighted(records) -> None:
    """(1·0.2 + 4·0.8)/5 = 0.68: the second record stands for four."""
    evaluation = evaluate(_threshold(), records([0.2, 0.8], [1, 4]))
    assert evaluation.value == pytest.approx(0.68)
    assert evaluation.exceeded


def test_the_quantile_is_weighted(records) -> None:
    """Half of all weight is reached only at the heavy record."""
    threshold = _threshold(statistic=Statistic.QUANTILE, quantile=0.5)
    assert evaluate(threshold, records([0.1, 0.2, 0.9], [1, 1, 3])).value == 0.9
    assert evaluate(threshold, records([0.1, 0.2, 0.9])).value == 0.2


def test_unweighted_quantiles_are_numpys() -> None:
    """Golden values from an independent implementation of the same definition."""
    values = np.random.default_rng(1).random(101)
    for q in (0.05, 0.5, 0.95):
        expected = np.quantile(values, q, method="inverted_cdf")
        assert weighted_quantile(values, np.ones(101), q) == expected


def test_the_share_counts_records_above_a_level(records) -> None:
    """3 of 5 by weight; exactly at the level is not above it."""
    threshold = _threshold(statistic=Statistic.SHARE_ABOVE, level=Bound(value=0.7))
    evaluation = evaluate(threshold, records([0.7, 0.71, 0.1], [1, 3, 1]))
    assert evaluation.value == pytest.approx(0.6)


def test_below_watches_the_other_side(records) -> None:
    """Entity support is bad when it falls."""
    threshold = _threshold(comparison=Comparison.BELOW, margin=0.1)
    assert evaluate(threshold, records([0.4])).exceeded
    assert not evaluate(threshold, records([0.6])).exceeded
    assert evaluate(threshold, records([0.61])).calm
    assert not evaluate(threshold, records([0.55])).calm


def test_between_limit_and_margin_it_is_neither_exceeded_nor_calm(records) -> None:
    """The band of hysteresis."""
    threshold = _threshold(margin=0.125)
    answers = [evaluate(threshold, records([value])) for value in (0.51, 0.45, 0.375)]
    assert [(a.exceeded, a.calm) for a in answers] == [(True, False), (False, False), (False, True)]


@pytest.mark.parametrize("weights", [[1.0], [1 / 0.3, 1 / 0.7, 1 / 0.11]])
def test_rounding_keeps_no_breach_open(records, weights) -> None:
    """Full support is as good as it gets, and 1 − 0.9 is a bit less than 0.1."""
    threshold = _threshold(comparison=Comparison.BELOW, limit=Bound(value=0.9), margin=0.1)
    assert evaluate(threshold, records([1.0] * len(weights), weights)).calm


def test_rounding_opens_no_breach(records) -> None:
    """Every record lies at the limit, and their mean a bit above."""
    weights = [1 / 0.3, 1 / 0.7, 1 / 0.11]
    evaluation = evaluate(_threshold(limit=Bound(value=0.1)), records([0.1] * 3, weights))
    assert evaluation.value > 0.1
    assert not evaluation.exceeded


def test_a_limit_can_be_a_quantile_of_the_reference(records) -> None:
    """ "Worse than 90 % of the reference" needs no number that somebody made up."""
    threshold = _threshold(limit=Bound(reference_quantile=0.9))
    evaluation = evaluate(threshold.against(records(np.arange(1, 11) / 10)), records([0.95]))
    assert evaluation.limit == pytest.approx(0.9)
    assert evaluation.exceeded


def test_without_its_reference_there_is_no_answer(records) -> None:
    """Not exceeded, not calm, and the reason why."""
    threshold = _threshold(limit=Bound(reference_quantile=0.9))
    evaluation = evaluate(threshold, records([0.95]))
    assert (evaluation.value, evaluation.reason) == (None, NoAnswer.NO_REFERENCE)
    assert not evaluation.exceeded and not evaluation.calm


def test_too_few_records_give_no_answer(records) -> None:
    """Three bad records at night are no breach of a service."""
    evaluation = evaluate(_threshold(min_records=4), records([0.9, 0.9, 0.9]))
    assert (evaluation.value, evaluation.reason) == (None, NoAnswer.TOO_FEW_RECORDS)
    assert evaluation.records == 3


def test_contributors_are_those_that_lifted_the_mean_most(records) -> None:
    """w·(x − limit): 4·0.2 before 1·0.5; a record below the limit contributed nothing."""
    evaluation = evaluate(_threshold(), records([1.0, 0.7, 0.1], [1, 4, 1]))
    assert [c.record_id for c in evaluation.contributors] == ["r1", "r0"]


def test_contributors_are_few(records) -> None:
    """Ten are enough to look at."""
    assert len(evaluate(_threshold(), records([0.9] * 50)).contributors) == 10


def test_staleness_is_a_threshold_like_any_other(records) -> None:
    """One value, minutes since the last score, as the only record."""
    threshold = _threshold(name="stale", signal="score_age_minutes", limit=Bound(value=30.0))
    assert evaluate(threshold, records([31.0])).exceeded


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistic": Statistic.QUANTILE}, r"thresholds\.hss\.quantile: None.*set it"),
        ({"quantile": 0.9}, r"thresholds\.hss\.quantile: 0\.9 with statistic 'mean'.*leave it out"),
        ({"statistic": Statistic.SHARE_ABOVE}, r"thresholds\.hss\.level.*set it"),
        ({"statistic": Statistic.QUANTILE, "quantile": 1.0}, r"quantile: 1\.0 is not in"),
        ({"min_records": 0}, r"min_records: 0; set at least 1"),
        ({"margin": -0.1}, r"margin: -0\.1; set at least 0"),
        ({"window": float("nan")}, r"window: nan"),
    ],
)
def test_a_contradictory_threshold_is_refused_by_name(options, message: str) -> None:
    """At start, not at 3 a.m."""
    with pytest.raises(ConfigurationError, match=message):
        _threshold(**options)


@pytest.mark.parametrize(
    "options", [{}, {"value": 0.1, "reference_quantile": 0.9}, {"reference_quantile": 1.0}]
)
def test_a_bound_is_one_thing_exactly(options) -> None:
    """A number or a quantile of the reference."""
    with pytest.raises(ConfigurationError, match="limit"):
        Bound(**options)


@pytest.mark.parametrize(
    ("values", "weights", "ids"),
    [([0.1], [1.0], ()), ([float("nan")], [1.0], ("a",)), ([0.1], [0.0], ("a",))],
)
def test_malformed_records_are_refused(values, weights, ids) -> None:
    """NaN would make every comparison false, and so a breach impossible."""
    with pytest.raises(MalformedInput, match="records"):
        Records(values=np.array(values), weights=np.array(weights), ids=ids)
