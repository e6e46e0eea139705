"""The threshold half of a turn: breaches open once, hold their records, and end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.findings import Series

MEAN = {
    "name": "hss_mean",
    "signal": "hss",
    "limit": {"value": 0.5},
    "min_records": 5,
    "hold_seconds": 120,
    "calm_seconds": 120,
    "severity": "page",
}
QUIET = {"drift": {"signals": ("hss",)}}


def _settings(**threshold: object) -> dict[str, object]:
    return {**QUIET, "thresholds": ({**MEAN, **threshold},)}


def _run(world, one, minutes: int) -> None:
    for _ in range(minutes):
        one.turn()
        world.clock.now += timedelta(minutes=1)


def test_a_breach_opens_once_with_the_records_behind_it(world, evaluator) -> None:
    """One page, and the records to look at, the worst first."""
    one = evaluator(**_settings())
    world.add([0.9, 0.7, 0.8, 0.95, 0.6])
    _run(world, one, 6)
    assert world.breaches.opened == ["hss_mean-1"]
    detail = world.breaches.breaches["hss_mean-1"]
    assert (detail.breach.state, detail.breach.severity) == ("open", "page")
    assert detail.breach.opened_at - detail.breach.exceeded_since == timedelta(minutes=2)
    values = [contributor.value for contributor in detail.contributors]
    assert values == [0.95, 0.9, 0.8, 0.7, 0.6]
    assert {contributor.release for contributor in detail.contributors} == {"v1"}


def test_another_evaluator_goes_on_with_the_same_breach(world, evaluator) -> None:
    """After the first one died: no second page, and the hold goes on where it was."""
    world.add([0.9] * 5)
    first, second = evaluator("front-1", **_settings()), evaluator("front-2", **_settings())
    first.turn()
    world.clock.now += timedelta(minutes=2)
    assert second.turn(), "its lease of a minute is over"
    _run(world, second, 3)
    assert world.breaches.opened == ["hss_mean-1"]
    assert world.breaches.states["hss_mean", world.samples.records[0].series].state == "open"


def test_it_resolves_when_good_records_come(world, evaluator) -> None:
    """The window has to be calm, and for as long as configured."""
    one = evaluator(**_settings(window_seconds=600))
    world.add([0.9] * 6)
    _run(world, one, 4)
    world.add([0.1] * 12)
    _run(world, one, 4)
    assert world.breaches.breaches["hss_mean-1"].breach.state == "resolved"
    assert world.breaches.breaches["hss_mean-1"].breach.worst == pytest.approx(0.9)


def test_a_rare_record_counts_for_those_it_stands_for(world, evaluator) -> None:
    """(1·0.9 + 9·0.1)/10 = 0.18 with π = 1 and 1/9."""
    world.add([0.9], probability=1.0)
    world.add([0.1], probability=1 / 9)
    evaluator(**_settings(min_records=1)).turn()
    (state,) = world.breaches.states.values()
    assert state.value == pytest.approx(0.18)


def test_a_quantile_of_the_reference_is_a_limit(world, evaluator, normal) -> None:
    """Its number is that of the frozen window; later records do not move it."""
    world.add(normal(450), every=240.0)
    world.calibrate()
    limit = {"reference_quantile": 0.5}
    one = evaluator(**_settings(limit=limit))
    one.turn()
    (before,) = world.breaches.states.values()
    world.add([0.9] * 50)
    one.turn()
    evaluator("front-1", **_settings(limit=limit)).turn()
    (after,) = world.breaches.states.values()
    assert before.limit == pytest.approx(0.18, abs=0.01), "the median of Beta(2, 8)"
    assert after.limit == before.limit
    assert after.value > after.limit


def test_such_a_limit_outlives_the_records_of_the_reference(world, evaluator, normal) -> None:
    """They are pruned after their days; a restart must not leave the threshold without answer."""
    world.add(normal(450), every=240.0)
    world.calibrate()
    world.add([0.9] * 10)
    limit = {"reference_quantile": 0.5, "at_least": 0.01}
    evaluator(**_settings(limit=limit)).turn()
    (before,) = world.breaches.states.values()
    del world.samples.records[:450]
    evaluator(**_settings(limit=limit)).turn()
    (after,) = world.breaches.states.values()
    assert (after.limit, after.value) == (before.limit, pytest.approx(0.9))
    assert after.limit == pytest.approx(0.18, abs=0.01)


def test_a_limit_goes_on_with_the_reference_that_was_kept(world, evaluator, normal) -> None:
    """A calibration of another release leaves this series its reference, records or not."""
    world.add(normal(450), every=240.0, signal="raw_distance")
    world.calibrate("raw_distance")
    world.add([0.9] * 10, signal="raw_distance")
    settings = _settings(signal="raw_distance", limit={"reference_quantile": 0.5})
    evaluator(**settings).turn()
    (before,) = world.breaches.states.values()
    (calibration,), (reference,) = world.calibrations.active, world.drift.stored
    world.calibrations.active = [replace(calibration, id="cal-2")]
    world.drift.stored = [replace(reference, calibration_id="cal-2", origin="cal-1")]
    del world.samples.records[:450]
    evaluator(**settings).turn()
    (after,) = world.breaches.states.values()
    assert after.limit == before.limit == pytest.approx(0.18, abs=0.01)


def test_no_limit_is_made_of_what_is_left_of_a_reference(world, evaluator, normal) -> None:
    """The oldest records are pruned first: the quantile of the others is another one."""
    world.add(normal(450), every=240.0)
    world.calibrate()
    del world.samples.records[:100]
    world.add([0.9] * 10)
    evaluator(**_settings(limit={"reference_quantile": 0.5})).turn()
    (state,) = world.breaches.states.values()
    assert (state.limit, state.value, state.reason) == (None, None, "no_reference")


def test_such_a_limit_has_a_floor(world, evaluator, normal) -> None:
    """A reference without serving noise has quantile 0; the first noisy record is no breach."""
    world.add([0.0] * 449 + [0.001], every=240.0)
    world.calibrate()
    limit = {"reference_quantile": 0.9, "at_least": 0.05}
    world.add([0.02] * 10)
    evaluator(**_settings(limit=limit)).turn()
    (state,) = world.breaches.states.values()
    assert (state.limit, state.state) == (0.05, "ok")


def test_without_a_reference_there_is_no_answer(world, evaluator) -> None:
    """Unknown is not ok: the state says why."""
    world.add([0.9] * 10)
    evaluator(**_settings(limit={"reference_quantile": 0.9})).turn()
    (state,) = world.breaches.states.values()
    assert (state.value, state.limit, state.reason) == (None, None, "no_reference")


def test_the_level_of_a_share_is_stored(world, evaluator) -> None:
    """Burn-rate counters of every front count against it."""
    world.add([0.9, 0.1, 0.9, 0.1])
    share = {"statistic": "share_above", "level": {"value": 0.7}, "min_records": 1}
    evaluator(**_settings(**share)).turn()
    (state,) = world.breaches.states.values()
    assert (state.level, state.value) == (0.7, 0.5)


def test_skipped_records_are_a_signal(world, evaluator) -> None:
    """A monitor that skips everything would otherwise look healthy."""
    world.add([1.0, 1.0, 0.0, 1.0, 1.0], signal="skipped")
    evaluator(**_settings(signal="skipped", hold_seconds=0)).turn()
    assert world.breaches.opened == ["hss_mean-1"]


def test_staleness_opens_although_nothing_is_scored(world, evaluator) -> None:
    """One value a series; the breach has no records to show."""
    world.add([0.2] * 3)
    world.add([0.2], final=False)
    stale = {"signal": "minutes_unscored", "limit": {"value": 30}, "hold_seconds": 0}
    one = evaluator(**_settings(**stale))
    one.turn()
    assert world.breaches.opened == []
    world.clock.now += timedelta(minutes=31)
    one.turn()
    assert world.breaches.opened == ["hss_mean-1"]
    assert world.breaches.breaches["hss_mean-1"].contributors == ()


def test_it_stays_open_for_days_while_records_wait(world, evaluator) -> None:
    """A dead scorer finishes nothing; that must not look as if the series were gone."""
    world.add([0.2] * 3)
    world.add([0.2], final=False)
    stale = {"signal": "minutes_unscored", "limit": {"value": 30}, "hold_seconds": 0}
    one = evaluator(**_settings(**stale))
    world.clock.now += timedelta(minutes=31)
    one.turn()
    world.clock.now += timedelta(days=3)
    one.turn()
    assert world.breaches.breaches["hss_mean-1"].breach.state == "open"


def test_a_breach_ends_with_its_series(world, evaluator) -> None:
    """A model that was retired cannot recover, and nobody can do anything about it."""
    world.add([0.9] * 5)
    one = evaluator(**_settings(hold_seconds=0))
    one.turn()
    world.clock.now += timedelta(hours=25)
    one.turn()
    assert world.breaches.breaches["hss_mean-1"].breach.state == "resolved"


def test_a_breach_ends_with_its_threshold(world, evaluator) -> None:
    """Removed from the configuration it would stay open for ever."""
    world.add([0.9] * 5)
    evaluator(**_settings(hold_seconds=0)).turn()
    world.clock.now += timedelta(minutes=1)
    evaluator(**_settings(name="another")).turn()
    assert world.breaches.states["hss_mean", world.samples.records[0].series].state == "resolved"
    ended = world.breaches.breaches["hss_mean-1"]
    assert (ended.breach.state, ended.breach.resolved_at) == ("resolved", world.clock.now)
    assert len(ended.contributors) == 5


def test_a_breach_that_ends_unwatched_ends_after_it_began(world, evaluator) -> None:
    """Also where the clock was set back since."""
    world.add([0.9] * 5)
    evaluator(**_settings(hold_seconds=0)).turn()
    world.clock.now -= timedelta(hours=2)
    evaluator(**_settings(name="another")).turn()
    ended = world.breaches.breaches["hss_mean-1"].breach
    assert (ended.state, ended.resolved_at) == ("resolved", ended.opened_at)


def test_a_breach_that_ends_unwatched_says_so(world, evaluator) -> None:
    """Nothing recovered: a resolved page must not be read as if it had. Nor may a damaged state
    of a threshold that nobody configures any more stop every turn."""
    one = evaluator(**_settings(window_seconds=600))
    world.add([0.9] * 6)
    _run(world, one, 4)
    assert world.breaches.opened == ["hss_mean-1"]
    (key,) = world.breaches.states
    world.breaches.states[key] = replace(world.breaches.states[key], stored={"state": "odd"})
    _run(world, evaluator(thresholds=(), drift={"signals": ()}), 1)
    (state,) = world.breaches.states.values()
    assert (state.state, state.value, state.reason) == ("resolved", None, "not_watched")
    assert world.breaches.breaches["hss_mean-1"].breach.state == "resolved"


def test_a_threshold_that_becomes_another_one_ends_its_breach(world, evaluator) -> None:
    """Under the same name a breach of one signal would go on as one of another."""
    world.add([0.9] * 6)
    _run(world, evaluator(**_settings(window_seconds=3600)), 4)
    assert world.breaches.opened == ["hss_mean-1"]
    _run(world, evaluator(**_settings(window_seconds=3600, signal="entity_support")), 1)
    breach = world.breaches.breaches["hss_mean-1"].breach
    assert (breach.state, breach.signal) == ("resolved", "hss")
    (state,) = world.breaches.states.values()
    assert (state.state, state.number, state.reason) == ("resolved", 1, "too_few_records")


def test_patterns_choose_the_series(world, evaluator) -> None:
    """A strict threshold for one service only."""
    law = Series(service="law-eu", model="m", category="")
    world.add([0.9] * 5)
    world.add([0.9] * 5, series=law)
    evaluator(**_settings(services=("law-*",))).turn()
    assert [series for _, series in world.breaches.states] == [law]


@pytest.mark.parametrize("frozen", [True, False])
def test_distances_that_double_open_a_breach_only_with_a_frozen_normalizer(
    world, evaluator, normal, frozen: bool
) -> None:
    """HSS = D/M. With M from the reference the mean doubles and exceeds the limit; with M that
    follows the last hours the same distances look as they always did."""
    limit = {"reference_quantile": 0.75}
    distances = normal(450) + [2 * value for value in normal(300, seed=2)]
    reference = sorted(distances[:450])[427]
    hss = []
    for place, distance in enumerate(distances):
        recent = sorted(distances[max(0, place - 60) : place + 1])
        rolling = recent[int(0.95 * (len(recent) - 1))]
        hss.append(min(distance / (reference if frozen or place < 450 else rolling), 1.0))
    world.add(hss[:450], every=240.0)
    world.calibrate()
    world.add(hss[450:], every=120.0)
    settings = _settings(limit=limit, hold_seconds=0, window_seconds=7200)
    evaluator(**settings).turn()
    assert (world.breaches.opened == ["hss_mean-1"]) is frozen


@pytest.mark.parametrize("damaged", [{}, {"state": "open"}, {"state": "odd", "contributors": []}])
def test_a_damaged_state_starts_anew_and_its_breach_can_end(world, evaluator, damaged) -> None:
    """One unreadable row must not end the judging of everything else."""
    one = evaluator(**_settings(window_seconds=600))
    world.add([0.9] * 6)
    _run(world, one, 4)
    (key,) = world.breaches.states
    world.breaches.states[key] = replace(world.breaches.states[key], stored=damaged)
    world.add([0.1] * 12)
    _run(world, one, 4)
    assert world.breaches.opened == ["hss_mean-1"]
    assert world.breaches.breaches["hss_mean-1"].breach.state == "resolved"
