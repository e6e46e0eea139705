"""A watched signal over time: alarm, recovery, restarts, and its stored form."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from monitor.drift.watch import Watch, follow, restore, start
from monitor.errors import MalformedInput

C = 10_000.0


def _follow(watch: Watch, reference, values: np.ndarray, times: np.ndarray, **options) -> Watch:
    seen = reference.observe(values, times)
    return follow(watch, seen, reference_id=reference.id, threshold=C, **options)


def test_a_stable_signal_raises_no_alarm(reference, stable, clock) -> None:
    """2,000 records of what was normal."""
    watch = _follow(start("ref-1"), reference, stable(2000, seed=7), clock(2000, start=50))
    assert watch.alarm is None
    assert watch.evidence.records == 2000


@pytest.mark.parametrize(("change", "direction"), [(0.15, "level_up"), (-0.15, "level_down")])
def test_a_shift_alarms_in_its_own_direction(reference, stable, clock, change, direction) -> None:
    """Both directions are watched: a signal that falls can be as bad as one that rises."""
    values = np.clip(stable(1500, seed=8) + change * (np.arange(1500) >= 100), 0, 1)
    watch = _follow(start("ref-1"), reference, values, clock(1500, start=50))
    assert watch.alarm is not None
    assert watch.alarm.direction == direction
    assert watch.alarm.since == pytest.approx((50 + 10) * 3600, abs=5 * 3600)


def test_a_change_of_spread_alone_is_seen_by_its_own_detector(reference, clock) -> None:
    """The mean stays 0.2; a detector of the mean would sleep."""
    values = np.random.default_rng(3).beta(0.8, 3.2, 2000)
    watch = _follow(start("ref-1"), reference, values, clock(2000, start=50))
    assert watch.alarm is not None
    assert watch.alarm.direction == "spread_up"


def test_a_great_shift_is_called_one_of_level(reference, stable, clock) -> None:
    """Squared deviations alarm first then; "the spread rose" would send people astray."""
    values = np.clip(stable(100, seed=8) + 0.5, 0, 1)
    watch = _follow(start("ref-1"), reference, values, clock(100, start=50))
    assert watch.alarm is not None
    assert watch.evidence.value[2] > watch.evidence.value[0]
    assert watch.alarm.direction == "level_up"


def test_drift_ends_after_fifty_records_inside_the_band(reference, stable, clock) -> None:
    """Not at the first good record, and not before 50 after the alarm."""
    times = clock(4000, start=50)
    bad = np.clip(stable(300, seed=9) + 0.2, 0, 1)
    drifted = _follow(start("ref-1"), reference, bad, times[:300])
    assert drifted.alarm is not None
    good = stable(1000, seed=10)
    still = _follow(drifted, reference, good[:40], times[300:340])
    over = _follow(drifted, reference, good, times[300:1300])
    assert still.alarm is not None
    assert over.alarm is None
    assert over.evidence.records < 1000, "evidence starts anew at the recovery"


def test_fifty_good_records_alone_do_not_end_a_drift_that_goes_on(reference, stable, clock) -> None:
    """Single records of a shifted stream lie inside any band; their mean does not."""
    values = np.clip(stable(2000, seed=11) + 0.15, 0, 1)
    watch = _follow(start("ref-1"), reference, values, clock(2000, start=50))
    assert watch.alarm is not None
    assert watch.alarm.raised_at < (50 + 20) * 3600, "the first alarm still stands"


def test_the_result_does_not_depend_on_batches(reference, stable, clock) -> None:
    """Evaluations come when they come; records of one batch or of ten are the same records."""
    values = np.clip(stable(900, seed=12) + 0.2 * (np.arange(900) // 300 == 1), 0, 1)
    times = clock(900, start=50)
    whole = _follow(start("ref-1"), reference, values, times)
    piecewise = start("ref-1")
    for at in range(0, 900, 7):
        piecewise = _follow(piecewise, reference, values[at : at + 7], times[at : at + 7])
    assert piecewise == whole


def test_a_new_reference_starts_from_nothing(reference, stable, clock) -> None:
    """Evidence against an old calibration says nothing about a new one."""
    bad = np.clip(stable(300, seed=9) + 0.2, 0, 1)
    drifted = _follow(start("ref-1"), reference, bad, clock(300, start=50))
    renewed = replace(reference, id="ref-2")
    watch = _follow(drifted, renewed, stable(10, seed=3), clock(10, start=90))
    assert (watch.reference_id, watch.alarm, watch.evidence.records) == ("ref-2", None, 10)


def test_the_state_survives_a_json_column(reference, stable, clock) -> None:
    """Another evaluator goes on where this one died, to the last bit."""
    values = np.clip(stable(300, seed=9) + 0.2, 0, 1)
    watch = _follow(start("ref-1"), reference, values, clock(300, start=50))
    assert watch.alarm is not None
    assert restore(json.loads(json.dumps(watch.stored()))) == watch
    assert restore(json.loads(json.dumps(start("x").stored()))) == start("x")


def test_a_state_of_other_detectors_is_refused() -> None:
    """After an upgrade that changes the directions the old numbers mean nothing."""
    stored = start("x").stored()
    stored["evidence"] = {**stored["evidence"], "sums": [[0.0]]}
    with pytest.raises(MalformedInput, match=r"evidence: 1 directions.*drop the stored state"):
        restore(stored)
