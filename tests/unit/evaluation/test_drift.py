"""The drift half of a turn: who is watched, from where, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.evaluation import windows
from monitor.findings import Series

DRIFT = {"drift": {"signals": ("hss",)}, "thresholds": ()}


@pytest.fixture
def watched(world, normal):
    """Thirty hours of reference, a record every four minutes."""
    world.add(normal(450), every=240.0)
    world.calibrate()
    return world


def test_before_a_calibration_nothing_can_be_said(world, evaluator, normal) -> None:
    """And the finding says what to do about it."""
    world.add(normal(60))
    assert evaluator(**DRIFT).turn()
    finding = world.finding()
    assert (finding.state, finding.reason) == ("insufficient", "no_reference")
    assert "calibrate" in finding.detail


def test_the_reference_itself_is_not_watched(watched, evaluator) -> None:
    """Its records are what is compared with; taken in again they would be counted twice."""
    evaluator(**DRIFT).turn()
    (state,) = watched.drift.states.values()
    assert (state.state["evidence"]["records"], state.cursor) == (0, None)


def test_normal_records_become_stable_and_are_a_change_once(watched, evaluator, normal) -> None:
    """Turns without a change of state add no row to the history."""
    one = evaluator(**DRIFT)
    one.turn()
    watched.add(normal(100, seed=2))
    one.turn()
    watched.add(normal(10, seed=3))
    one.turn()
    assert watched.finding().state == "stable"
    assert [(c.before, c.after) for c in watched.drift.changed] == [("insufficient", "stable")]


def test_drift_is_found_with_its_beginning_and_size(watched, evaluator, normal) -> None:
    """What the on-call engineer reads: which way, since when, by how much."""
    watched.add(normal(200, seed=2))
    began = watched.clock.now
    watched.add(normal(150, seed=3, plus=0.25))
    evaluator(**DRIFT).turn()
    finding = watched.finding()
    assert (finding.state, finding.direction) == ("drifted", "level_up")
    assert abs(finding.since - began) < timedelta(minutes=15)
    assert finding.effect_low < 0.25 < finding.effect_high
    assert finding.reference_mean == pytest.approx(0.2, abs=0.02)
    assert finding.evidence >= finding.threshold


def test_records_without_a_share_are_passed_over(watched, evaluator, normal) -> None:
    """HSS cannot be adjusted for an unknown share: one NaN would silence the detector for good."""
    values = normal(40, seed=4)
    watched.add(values[:20])
    watched.add([0.2], share=float("nan"))
    watched.add(values[20:])
    evaluator(**DRIFT).turn()
    (state,) = watched.drift.states.values()
    assert state.state["evidence"]["records"] == 40
    assert state.cursor.record_id == watched.samples.records[-1].id
    assert watched.finding().records == 40
    assert 0 < watched.finding().evidence < float("inf")


def test_records_none_of_which_has_a_share_move_the_cursor_all_the_same(watched, evaluator) -> None:
    """Else every turn would read them again."""
    watched.add([0.2] * 3, share=float("nan"))
    evaluator(**DRIFT).turn()
    (state,) = watched.drift.states.values()
    assert state.state["evidence"]["records"] == 0
    assert state.cursor.record_id == watched.samples.records[-1].id


def test_each_record_is_taken_in_once_however_the_turns_fall(watched, evaluator, normal) -> None:
    """Two evaluators in turn end where a single one does."""
    values = normal(90, seed=4, plus=0.05)
    first, second = evaluator("front-1", **DRIFT), evaluator("front-2", **DRIFT)
    for start in range(0, 90, 30):
        watched.add(values[start : start + 30])
        one = first if start % 60 == 0 else second
        assert one.turn()
        one.release()
    piecewise = watched.drift.states.copy()
    watched.drift.states.clear()
    first.turn()
    assert watched.drift.states == piecewise


def test_records_behind_an_unfinished_one_wait(watched, evaluator, normal) -> None:
    """Out of order the evidence would depend on which scorer was quicker."""
    watched.add(normal(5, seed=2))
    watched.add([0.2], final=False)
    watched.add(normal(5, seed=3))
    one = evaluator(**DRIFT)
    one.turn()
    (state,) = watched.drift.states.values()
    assert state.state["evidence"]["records"] == 5
    watched.samples.records[-6].final = True
    one.turn()
    (state,) = watched.drift.states.values()
    assert state.state["evidence"]["records"] == 11


def test_a_clock_that_was_set_back_leaves_no_reference_in_the_future(
    watched, evaluator, normal
) -> None:
    """A calibration made before would keep everything behind it from being watched."""
    watched.clock.now -= timedelta(hours=40)
    one = evaluator(**DRIFT)
    one.turn()
    watched.add(normal(30, seed=3), every=1.0)
    one.turn()
    (state,) = watched.drift.states.values()
    assert state.state["evidence"]["records"] == 30


def test_a_clock_that_was_set_back_stops_no_detector(watched, evaluator, normal) -> None:
    """Records that come in now lie behind those that were taken in already."""
    watched.add(normal(60, seed=2))
    one = evaluator(**DRIFT)
    one.turn()
    watched.clock.now -= timedelta(hours=1)
    one.turn()
    watched.add(normal(30, seed=3), every=1.0)
    one.turn()
    (state,) = watched.drift.states.values()
    assert state.state["evidence"]["records"] == 90
    assert state.cursor.record_id == watched.samples.records[-1].id


def test_a_new_calibration_starts_the_detector_anew(watched, evaluator, normal) -> None:
    """What was drift may be the new normal."""
    watched.add(normal(500, seed=3, plus=0.25), every=240.0)
    one = evaluator(**DRIFT)
    one.turn()
    assert watched.finding().state == "drifted"
    watched.calibrate(name="cal-2", since=watched.clock.now - timedelta(hours=30))
    watched.add(normal(60, seed=4, plus=0.25))
    one.turn()
    (state,) = watched.drift.states.values()
    assert (state.reference_id, state.state["evidence"]["records"]) == ("cal-2", 60)
    assert watched.finding().state == "stable"


def test_the_promise_grows_with_what_is_watched_and_with_traffic(watched, evaluator) -> None:
    """c = series × signals × directions × records expected in the promised time."""
    signals = {"drift": {"signals": ("hss", "excess"), "false_alarm_days": 30}, "thresholds": ()}
    evaluator(**signals).turn()
    span = watched.drift.stored[0].until - watched.drift.stored[0].since
    per_day = 450 / (span / timedelta(days=1))
    assert watched.finding().threshold == pytest.approx(1 * 2 * 4 * per_day * 30)


def test_a_threshold_never_falls_below_what_was_measured(watched, evaluator) -> None:
    """A promise for a minute would be kept by less, but nobody knows how that behaves."""
    hasty = {"drift": {"signals": ("hss",), "false_alarm_days": 0.001}, "thresholds": ()}
    evaluator(**hasty).turn()
    assert watched.finding().threshold == 10_000.0


def test_silence_is_not_stable(watched, evaluator, normal) -> None:
    """After other models or settings no record compares with the reference any more."""
    one = evaluator(**DRIFT)
    watched.add(normal(100, seed=2))
    one.turn()
    assert watched.finding().state == "stable"
    for record in watched.samples.records:
        record.at -= timedelta(days=5)
    watched.add([0.5] * 3, signal="excess", every=3600.0)
    one.turn()
    assert (watched.finding().state, watched.finding().reason) == (
        "insufficient",
        "too_few_records",
    )


def test_an_alarm_outlives_the_silence_behind_it(watched, evaluator, normal) -> None:
    """Nothing has recovered: a change of models while it is open must not take the page back."""
    one = evaluator(**DRIFT)
    watched.add(normal(150, seed=3, plus=0.25))
    one.turn()
    for record in watched.samples.records:
        record.at -= timedelta(days=5)
    watched.add([0.5] * 3, signal="excess", every=3600.0)
    one.turn()
    assert (watched.finding().state, watched.finding().direction) == ("drifted", "level_up")


def test_of_two_calibrations_in_force_the_newer_holds_a_series(watched, evaluator, normal) -> None:
    """Settings that were left keep theirs; the series is judged under the present ones."""
    (old,) = watched.calibrations.active
    watched.add(normal(450, seed=5, plus=0.3), every=240.0)
    watched.calibrate(name="cal-2", since=old.until)
    watched.calibrations.active.append(old)
    watched.drift.stored.reverse()
    watched.add(normal(200, seed=6, plus=0.3))
    evaluator(**DRIFT).turn()
    assert (watched.finding().calibration_id, watched.finding().state) == ("cal-2", "stable")


def test_only_the_busiest_series_are_watched(world, evaluator, normal) -> None:
    """Whoever invents names must not make the evaluator work for ever."""
    for number in range(4):
        quiet = Series(service=f"s{number}", model="m", category="")
        world.add(normal(5 + number), series=quiet)
    few = {"drift": {"signals": ("hss",), "max_series": 2}, "thresholds": ()}
    evaluator(**few).turn()
    assert sorted(series.service for series, _ in world.drift.found) == ["s2", "s3"]


def test_a_window_is_compared_again_only_when_it_changed(watched, evaluator, normal) -> None:
    """Thousands of permutations each turn for nothing new would cost a core."""
    one = evaluator(**DRIFT)
    watched.add(normal(300, seed=2))
    one.turn()
    before = watched.samples.reads
    watched.clock.now += timedelta(seconds=30)
    one.turn()
    assert watched.samples.reads - before == 1, "the detector's look for new records"
    assert {test.statistic for test in watched.finding().tests} == {"psi", "ks", "wasserstein"}


def test_without_time_left_a_window_waits_for_the_next_turn(watched, evaluator, normal) -> None:
    """The e-detector, which carries the promise, never waits."""
    watched.add(normal(300, seed=2))
    evaluator(budget=0.0, **DRIFT).turn()
    finding = watched.finding()
    assert (finding.tests, finding.state) == ((), "stable")


def test_p_values_are_sharpened_where_the_correction_needs_it(
    watched, evaluator, normal, monkeypatch
) -> None:
    """Nine permutations give no p below 0.1: three tests corrected could never show anything."""
    sizes = []
    compare = windows.compare

    def counted(*args, permutations: int, **options):
        sizes.append(permutations)
        return compare(*args, permutations=permutations, **options)

    monkeypatch.setattr(windows, "compare", counted)
    watched.add(normal(300, seed=2, plus=0.04))
    evaluator(drift={"signals": ("hss",), "permutations": 9}, thresholds=()).turn()
    assert sizes == [9, 120], "2 · 3 tests / 0.05"
    assert min(test.adjusted_p for test in watched.finding().tests) < 0.05


def test_a_reference_of_another_version_is_said_to_be_unusable(watched, evaluator, normal) -> None:
    """An upgrade that changed its fields must not stop all judging."""
    watched.drift.stored = [replace(watched.drift.stored[0], fitted={"id": "cal-1"})]
    watched.add(normal(60, seed=2))
    evaluator(**DRIFT).turn()
    assert watched.finding().state == "insufficient"
    assert "stored by another version" in watched.finding().detail


def test_a_pruned_reference_is_said_not_to_be_compared_with(watched, evaluator, normal) -> None:
    """The detector goes on without its records; the tests would compare with another one."""
    del watched.samples.records[:100]
    watched.add(normal(60, seed=2))
    evaluator(**DRIFT).turn()
    finding = watched.finding()
    assert finding.state == "stable"
    assert {(test.value, test.reason) for test in finding.tests} == {(None, "no_reference")}
    assert "350 of 450 records of the reference are left" in finding.tests[0].detail


def test_a_value_that_cannot_be_costs_its_own_signal_only(watched, evaluator, normal) -> None:
    """Otherwise one wrong row would leave everybody without any verdict."""
    watched.add(normal(60, seed=2))
    watched.add([1.5])
    watched.add([0.9] * 5, signal="entity_support")
    one = evaluator(
        drift={"signals": ("hss",)},
        thresholds=(
            {"name": "a", "signal": "entity_support", "limit": {"value": 0.5}, "min_records": 1},
        ),
    )
    assert one.turn()
    assert watched.finding().state == "insufficient"
    assert "1.5 lies outside [0.0, 1.0]" in watched.finding().detail
    assert [state.value for state in watched.breaches.states.values()] == [pytest.approx(0.9)]
