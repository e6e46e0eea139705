"""What goes on in another process: stored breaches, and thresholds as they are configured."""

from __future__ import annotations

import json

import numpy as np
import pytest

from monitor.breaches.configured import threshold_of
from monitor.breaches.lifecycle import Breach, BreachState, end, restore, step
from monitor.breaches.thresholds import Bound, Comparison, Statistic, Threshold, evaluate
from monitor.breaches.window import Records
from monitor.errors import ConfigurationError, MalformedInput
from monitor.settings import Settings
from monitor.settings import Threshold as Configured

AT_ONCE = Threshold(name="x", signal="hss", limit=Bound(value=0.5), min_records=1, hold=0.0)


@pytest.fixture
def opened(records) -> Breach:
    return step(Breach(), AT_ONCE, evaluate(AT_ONCE, records([0.9, 0.8])), now=60.0).breach


def test_a_breach_survives_a_json_column(opened) -> None:
    """Another evaluator goes on where this one died."""
    assert restore(json.loads(json.dumps(opened.stored()))) == opened
    assert restore(json.loads(json.dumps(Breach().stored()))) == Breach()


def test_what_is_not_watched_any_more_is_in_no_breach(opened) -> None:
    """Its number is kept, so that a later breach is not taken for the same one."""
    ended = end(opened, now=90.0)
    assert (ended.state, ended.resolved_at, ended.number) == (BreachState.RESOLVED, 90.0, 1)


def test_a_pending_breach_that_ends_was_none(records) -> None:
    """It never paged."""
    held = Threshold(name="x", signal="hss", limit=Bound(value=0.5), min_records=1, hold=300.0)
    pending = step(Breach(), held, evaluate(held, records([0.9])), now=60.0).breach
    ended = end(pending, now=90.0)
    assert (ended.state, ended.exceeded_since, ended.contributors) == (BreachState.OK, None, ())


def test_a_quantile_has_a_floor(records) -> None:
    """0 all over the reference; 0.02 is noise and no breach."""
    bound = Bound(reference_quantile=0.9, at_least=0.05)
    threshold = Threshold(name="x", signal="shap_instability", limit=bound)
    assert threshold.against(records([0.0] * 10)).limit.value == 0.05
    assert threshold.against(records([0.4] * 10)).limit.value == 0.4
    with pytest.raises(ConfigurationError, match="at_least"):
        Bound(value=0.5, at_least=0.1)


def test_bounds_become_numbers_once(records) -> None:
    """The reference is read when a calibration is new, not at every turn."""
    threshold = Threshold(
        name="x",
        signal="hss",
        statistic=Statistic.SHARE_ABOVE,
        level=Bound(reference_quantile=0.9),
        limit=Bound(value=0.25),
    )
    assert threshold.needs_reference
    fixed = threshold.against(records(np.arange(1, 11) / 10))
    assert (fixed.level, fixed.limit) == (Bound(value=0.9), Bound(value=0.25))
    assert not fixed.needs_reference
    assert threshold.against(None) == threshold, "unknown stays unknown"


def test_contributors_tell_their_release() -> None:
    """Mostly the first thing that is asked."""
    window = Records(
        values=np.array([0.9, 0.7]), weights=np.ones(2), ids=("a", "b"), releases=("v2", None)
    )
    evaluation = evaluate(AT_ONCE, window)
    assert [(c.record_id, c.release) for c in evaluation.contributors] == [("a", "v2"), ("b", None)]
    with pytest.raises(MalformedInput, match="releases"):
        Records(values=np.ones(2), weights=np.ones(2), ids=("a", "b"), releases=("v1",))


def test_every_default_threshold_is_one() -> None:
    """A default that is refused at start would leave nobody an evaluator."""
    made = [threshold_of(each) for each in Settings().thresholds]
    assert [each.name for each in made] == [each.name for each in Settings().thresholds]
    assert {each.comparison for each in made} == {Comparison.ABOVE, Comparison.BELOW}


def test_an_age_needs_one_record_only() -> None:
    """It is one number a series; with thirty it could never answer."""
    age = Configured(name="stale", signal="minutes_unscored", limit={"value": 30})
    assert threshold_of(age).min_records == 1


def test_patterns_are_those_of_a_shell() -> None:
    """Empty: everything; an upper-case name is another name."""
    strict = Configured(name="x", signal="hss", limit={"value": 1}, services=("law-*", "news"))
    assert [strict.watches(name, "m", "c") for name in ("law-eu", "news", "News", "sport")] == [
        True,
        True,
        False,
        False,
    ]
