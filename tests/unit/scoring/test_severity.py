"""HSS and its Student-t interval, against hand-computed numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from monitor.errors import MalformedInput
from monitor.records import Normalizer, Reason, Strength
from monitor.scoring.coverage import WORLDS, coverage
from monitor.scoring.severity import severity

LOW, MODERATE, HIGH = Strength.LOW, Strength.MODERATE, Strength.HIGH


def scale(value, category=None):
    return Normalizer(
        category=category, value=value, low=None, high=None, documents=50, distances=400
    )


def test_hss_is_the_mean_of_clipped_ratios():
    """By hand: D/M = 0.5, 1 and 1 (1.5 clipped), mean 2.5/3."""
    score = severity([(LOW, 0.2), (LOW, 0.4), (LOW, 0.6)], scale(0.4))
    assert score.hss == pytest.approx(2.5 / 3)


def test_interval_of_one_strength_is_the_textbook_t_interval():
    """Without strata it has to be what any statistics book gives."""
    values = [0.1, 0.25, 0.3, 0.35, 0.5]
    score = severity([(LOW, value) for value in values], scale(1.0))
    expected = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert (score.low, score.high) == pytest.approx(expected)


def test_spread_between_strengths_is_not_chance():
    """By hand: within-strength squares are 4·0.01² on 2 degrees of freedom, K = 4."""
    score = severity([(LOW, 0.09), (LOW, 0.11), (HIGH, 0.89), (HIGH, 0.91)], scale(1.0))
    half = stats.t.ppf(0.975, 2) * math.sqrt(4 * 0.01**2 / 2 / 4)
    assert (score.low, score.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_interval_is_clipped_to_the_unit_interval():
    """A severity below 0 or above 1 means nothing to a reader."""
    score = severity([(LOW, 0.0), (LOW, 1.0)], scale(1.0))
    assert (score.low, score.hss, score.high) == (0.0, 0.5, 1.0)


@pytest.mark.parametrize("runs", [[(LOW, 0.2)], [(LOW, 0.2), (MODERATE, 0.3), (HIGH, 0.4)]])
def test_too_few_runs_give_a_score_without_interval(runs):
    """One run a strength leaves no degree of freedom to estimate a spread with."""
    score = severity(runs, scale(0.5))
    assert score.hss is not None
    assert (score.low, score.high, score.interval_reason) == (None, None, Reason.TOO_FEW_RUNS)


def test_without_normalizer_the_score_is_uncalibrated():
    """Raw distances are stored meanwhile; a score of 0 would be a lie."""
    score = severity([(LOW, 0.2), (LOW, 0.3)], None)
    assert (score.hss, score.reason) == (None, Reason.UNCALIBRATED)


def test_without_runs_the_score_is_unknown():
    """A mean of nothing is not 0."""
    score = severity([], scale(0.5))
    assert (score.hss, score.reason) == (None, Reason.TOO_FEW_RUNS)


def test_normalizer_that_was_used_is_named():
    """People have to see whether the pooled normalizer stood in."""
    assert severity([(LOW, 0.2)], scale(0.5, "news")).normalizer.category == "news"


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_normalizer_that_is_not_positive_is_refused(value):
    """Dividing by it would give infinity, NaN or a flipped sign."""
    with pytest.raises(MalformedInput, match="calibrate again"):
        severity([(LOW, 0.2)], scale(value))


@pytest.mark.parametrize("distance", [-0.1, 2.1, math.nan])
def test_distance_outside_its_range_is_refused(distance):
    """NaN must not travel on silently."""
    with pytest.raises(MalformedInput, match="outside"):
        severity([(LOW, distance)], scale(0.5))


def test_coverage_is_what_the_docstring_states():
    """The stated coverage, on fewer records: two standard errors are 1.4 points here."""
    measured = {world.name: coverage(world, records=1500)[0] for world in WORLDS}
    stated = {
        "narrow": 0.942,
        "broad": 0.927,
        "clipped": 0.935,
        "half still": 0.919,
        "mostly still": 0.576,
    }
    assert measured == pytest.approx(stated, abs=0.03)
