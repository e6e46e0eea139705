"""One state a signal and one a series, from what the detectors say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from monitor.drift.comparison import Comparison, Sample, compare, compare_halves, correct
from monitor.drift.fitting import fit_reference
from monitor.drift.permutation import BlockTest
from monitor.drift.reference import Insufficient, Lacking, Reference
from monitor.drift.verdict import DriftState, Verdict, judge
from monitor.drift.watch import Watch, follow, start

C = 10_000.0


@pytest.fixture
def judged(reference, stable, clock):
    """The verdict on a window that follows the reference of 500 stable records."""

    def verdict(values: np.ndarray, comparison: Comparison | None = None) -> Verdict:
        times = clock(len(values), start=50)
        seen = reference.observe(values, times)
        watch = follow(start("ref-1"), seen, reference_id="ref-1", threshold=C)
        window = Sample(values=values, times=times)
        return judge(reference, watch, window, comparison, threshold=C)

    return verdict


def test_normal_records_are_stable_with_an_interval_around_zero(judged, stable) -> None:
    """The effect says how much change is still possible, not only "stable"."""
    verdict = judged(stable(800, seed=3))
    assert verdict.state is DriftState.STABLE
    assert verdict.effect.low < 0 < verdict.effect.high


def test_drift_tells_since_when_how_far_and_which_way(judged, stable) -> None:
    """Effect over the records since the change only: the true 0.15 lies in its interval."""
    values = np.clip(stable(700, seed=4) + 0.15 * (np.arange(700) >= 400), 0, 1)
    verdict = judged(values)
    assert verdict.state is DriftState.DRIFTED
    assert verdict.alarm.direction == "level_up"
    assert verdict.alarm.since == pytest.approx((50 + 40) * 3600, abs=4 * 3600)
    assert verdict.effect.low < 0.15 < verdict.effect.high
    assert verdict.effect.deviations == pytest.approx(0.15 / 0.12, rel=0.25)
    assert verdict.effect.records < 400


def test_an_effect_has_no_deviations_where_the_reference_has_none(clock) -> None:
    """Support is 1 in every good summary; -1927273813276383.8 SD say nothing."""
    fitted = fit_reference(np.ones(400), clock(400), id="r")
    nearly = replace(fitted, deviation=5e-16)  # what weights that do not add up exactly leave
    window = Sample(values=np.zeros(20), times=clock(20, start=40))
    effect = judge(nearly, start("r"), window, None, threshold=C).effect
    assert effect.value == pytest.approx(-1.0)
    assert effect.deviations is None


def test_the_effect_interval_covers_the_truth(stable, clock) -> None:
    """95 % over fresh references and windows: 300 runs, wide enough for chance."""
    covered = 0
    for seed in range(300):
        fitted = fit_reference(stable(400, seed), clock(400), id="r")
        window = Sample(values=stable(200, 10_000 + seed) + 0.05, times=clock(200, start=40))
        effect = judge(fitted, start("r"), window, None, threshold=C).effect
        covered += effect.low < 0.05 < effect.high
    assert 0.915 <= covered / 300 <= 0.98


def test_few_current_records_widen_the_effect_interval(stable, clock) -> None:
    """t(0.975) of the two degrees of three records, 4.302653, not of the reference's hundreds."""
    fitted = fit_reference(stable(400, 0), clock(400), id="r")
    assert (fitted.level.harmonics, fitted.level.correlation_time) == (0, 1.0)
    window = Sample(values=np.array([0.1, 0.2, 0.3]), times=clock(3, start=40))
    effect = judge(fitted, start("r"), window, None, threshold=C).effect
    error = np.hypot(0.1 / np.sqrt(3), np.sqrt(fitted.level.covariance[0][0]))
    assert (effect.high - effect.low) / 2 == pytest.approx(4.302653 * error)


def test_without_a_reference_the_state_is_insufficient() -> None:
    """And it says what to do."""
    verdict = judge(None, None, None, None, threshold=C)
    assert verdict.state is DriftState.INSUFFICIENT
    assert verdict.lacking.reason is Lacking.NO_REFERENCE
    assert "calibrate" in verdict.lacking.detail


def test_an_unusable_reference_passes_its_reason_on() -> None:
    """ "Spans ten hours" is what the operator has to read."""
    lacking = Insufficient(reason=Lacking.NO_FULL_CYCLE, detail="the reference spans 10 hours")
    assert judge(lacking, None, None, None, threshold=C).lacking is lacking


def test_few_records_are_not_yet_stable(judged, stable) -> None:
    """49 records since the reference: nothing can be said."""
    verdict = judged(stable(49, seed=3))
    assert (verdict.state, verdict.lacking.reason) == (
        DriftState.INSUFFICIENT,
        Lacking.TOO_FEW_RECORDS,
    )


def test_a_state_of_another_reference_counts_for_nothing(reference, stable, clock) -> None:
    """Between a recalibration and the next evaluation the old alarm may not linger."""
    old = Watch(reference_id="ref-0", evidence=start("x").evidence)
    verdict = judge(reference, old, None, None, threshold=C)
    assert (verdict.state, verdict.evidence) == (DriftState.INSUFFICIENT, None)


def test_a_corrected_p_value_makes_it_suspect(judged, stable) -> None:
    """The windowed tests never page, they point."""
    silent = Comparison(tests={}, adjusted={"ks": 0.06, "psi": 1.0})
    loud = Comparison(tests={}, adjusted={"ks": 0.04, "psi": 1.0})
    values = stable(200, seed=3)
    assert judged(values, silent).state is DriftState.STABLE
    assert judged(values, loud).state is DriftState.SUSPECT


def test_evidence_on_its_way_makes_it_suspect(reference, stable, clock) -> None:
    """From √c on: 100 of the 10,000 that an alarm takes."""
    evidence = replace(
        start("ref-1").evidence, sums=((100.0,) * 5,) + ((0.0,) * 5,) * 3, records=60
    )
    watch = Watch(reference_id="ref-1", evidence=evidence)
    assert judge(reference, watch, None, None, threshold=C).state is DriftState.SUSPECT
    less = replace(watch, evidence=replace(evidence, sums=((99.0,) * 5,) + ((0.0,) * 5,) * 3))
    assert judge(reference, less, None, None, threshold=C).state is DriftState.STABLE


def test_too_correlated_records_leave_the_verdict_open(judged, stable) -> None:
    """Where no p-value holds its level the answer is "insufficient", not "stable"."""
    refused = Insufficient(reason=Lacking.TOO_CORRELATED, detail="3 blocks of 200 records")
    verdict = judged(stable(200, seed=3), Comparison(tests={"ks": refused}, adjusted={}))
    assert (verdict.state, verdict.lacking) == (DriftState.INSUFFICIENT, refused)


def test_a_window_too_small_for_tests_leaves_the_e_detector(judged, stable) -> None:
    """Five records an hour are enough for it."""
    refused = Insufficient(reason=Lacking.TOO_FEW_RECORDS, detail="60 records")
    verdict = judged(stable(60, seed=3), Comparison(tests={"ks": refused}, adjusted={}))
    assert verdict.state is DriftState.STABLE


def test_a_comparison_ignores_the_hour_and_is_corrected_over_all(stable, clock) -> None:
    """The current window holds mornings only; a daily cycle in the reference is no drift."""
    times = clock(1000)
    before = np.clip(stable(1000) + 0.1 * np.sin(2 * np.pi * times / 86400), 0, 1)
    reference = fit_reference(before, times, id="r")
    assert isinstance(reference, Reference)
    mornings = np.concatenate([clock(40, start=24 * day + 4) for day in range(5, 10)])
    now = np.clip(stable(200, seed=2) + 0.1 * np.sin(2 * np.pi * mornings / 86400), 0, 1)
    then, current = Sample(values=before, times=times), Sample(values=now, times=mornings)
    compared = compare(reference, then, current, seed=1)
    both = correct({"a": compared, "b": compared})
    test = compared.tests["wasserstein"]
    assert isinstance(test, BlockTest)
    assert test.p > 0.02
    assert both["a"].adjusted["wasserstein"] >= test.p
    least = min(each.p for each in compared.tests.values())
    assert min(both["b"].adjusted.values()) == pytest.approx(min(6 * least, 1.0))
    assert set(both["b"].adjusted) == {"psi", "ks", "wasserstein"}


def test_a_reference_that_changed_while_it_was_taken_is_noticed(stable, clock) -> None:
    """Its halves differ; a calibration on it deserves a warning."""
    times = clock(1000)
    moving = np.clip(stable(1000) + 0.1 * (np.arange(1000) >= 500), 0, 1)
    for values, changed in ((moving, True), (stable(1000), False)):
        reference = fit_reference(values, times, id="r")
        halves = compare_halves(reference, Sample(values=values, times=times), seed=1)
        assert (min(halves.adjusted.values()) < 0.05) is changed
