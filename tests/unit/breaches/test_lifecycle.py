"""ok → pending → open → resolved, with its clocks, and what on-call people add."""

from __future__ import annotations

import pytest

from monitor.breaches.lifecycle import (
    Breach,
    Step,
    end,
    live_precision,
    step,
)
from monitor.breaches.thresholds import Bound, Comparison, Threshold, evaluate

THRESHOLD = Threshold(
    name="hss",
    signal="hss",
    limit=Bound(value=0.5),
    margin=0.1,
    min_records=1,
    hold=300.0,
    calm=600.0,
)


@pytest.fixture
def walk(records):
    """Evaluations as (minute, value); None is a window without records."""

    def run(
        *evaluations: tuple[float, float | None],
        breach: Breach | None = None,
        threshold: Threshold = THRESHOLD,
    ) -> list[Step]:
        breach, steps = breach or Breach(), []
        for minute, value in evaluations:
            window = records([] if value is None else [value])
            taken = step(breach, threshold, evaluate(threshold, window), now=minute * 60.0)
            breach = taken.breach
            steps.append(taken)
        return steps

    return run


def _states(steps: list[Step]) -> list[str]:
    return [taken.breach.state.value for taken in steps]


def test_the_whole_life_of_a_breach(walk) -> None:
    """Held for five minutes, open, calm for ten, resolved: one page."""
    steps = walk((0, 0.2), (1, 0.8), (5, 0.9), (6, 0.8), (7, 0.3), (16, 0.3), (17, 0.3))
    assert _states(steps) == ["ok", "pending", "pending", "open", "open", "open", "resolved"]
    assert [taken.opened for taken in steps] == [False, False, False, True, False, False, False]
    assert [taken.resolved for taken in steps] == [False] * 6 + [True]
    last = steps[-1].breach
    assert (last.exceeded_since, last.opened_at, last.resolved_at) == (60.0, 360.0, 1020.0)
    assert (last.worst, last.number) == (0.9, 1)


def test_a_short_excess_pages_nobody(walk) -> None:
    """Below the limit again before `hold` is over."""
    steps = walk((0, 0.8), (4, 0.4), (5, 0.8), (9, 0.8))
    assert _states(steps) == ["pending", "ok", "pending", "pending"]
    assert steps[1].breach.contributors == ()


def test_without_hold_it_opens_at_once(walk) -> None:
    """For thresholds where one bad window is enough."""
    at_once = Threshold(name="x", signal="hss", limit=Bound(value=0.5), min_records=1, hold=0.0)
    assert _states(walk((0, 0.8), threshold=at_once)) == ["open"]


def test_swinging_around_the_limit_keeps_it_open(walk) -> None:
    """Neither 0.55 nor 0.45 is calm with a margin of 0.1: no second page."""
    steps = walk(
        (0, 0.8), (5, 0.8), *((minute, 0.45 + 0.1 * (minute % 2)) for minute in range(6, 60))
    )
    assert set(_states(steps[1:])) == {"open"}
    assert sum(taken.opened for taken in steps) == 1


def test_calm_has_to_last_without_a_break(walk) -> None:
    """One step back into the band starts its clock anew."""
    steps = walk((0, 0.8), (5, 0.8), (6, 0.3), (15, 0.45), (16, 0.3), (25, 0.3), (26, 0.3))
    assert _states(steps)[-3:] == ["open", "open", "resolved"]


def test_silence_is_no_recovery(walk) -> None:
    """No records, no answer: an open breach stays open, and its calm starts anew."""
    steps = walk((0, 0.8), (5, 0.8), (6, 0.3), (10, None), (16, 0.3), (25, 0.3), (26, 0.3))
    assert _states(steps)[-4:] == ["open", "open", "open", "resolved"]
    assert steps[3].breach.value == 0.3, "the last known value is kept"


def test_silence_does_not_ripen_a_pending_breach(walk) -> None:
    """The five minutes are minutes of known excess."""
    steps = walk((0, 0.8), (4, None), (6, 0.8), (10, 0.8), (11, 0.8))
    assert _states(steps) == ["pending", "pending", "pending", "pending", "open"]


def test_a_second_breach_is_a_new_one(walk) -> None:
    """Its own number, its own worst value."""
    first = walk((0, 0.95), (5, 0.9), (6, 0.1), (16, 0.1))[-1].breach
    steps = walk((20, 0.7), (25, 0.7), breach=first)
    assert _states(steps) == ["pending", "open"]
    last = steps[-1].breach
    assert (last.number, last.worst, last.resolved_at) == (2, 0.7, None)


def test_a_false_start_after_a_breach_falls_back_to_resolved(walk) -> None:
    """Not to ok: the last breach is still the last one."""
    first = walk((0, 0.9), (5, 0.9), (6, 0.1), (16, 0.1))[-1].breach
    assert _states(walk((20, 0.7), (21, 0.3), breach=first)) == ["pending", "resolved"]


def test_a_repeated_or_late_step_does_nothing(walk) -> None:
    """Two evaluators at a takeover may not open a breach twice."""
    opened = walk((0, 0.9), (5, 0.9))[-1].breach
    again = walk((5, 0.1), (3, 0.1), breach=opened)
    assert [taken.opened for taken in again] == [False, False]
    assert again[-1].breach == opened


def test_a_clock_that_was_set_back_stops_nothing(walk) -> None:
    """For an hour no breach could open otherwise, and no open one end. Holding and calm are
    measured from the first step of the new time; a breach never ends before it opened."""
    pending = walk((100, 0.8), (40, 0.8), (44, 0.8), (45, 0.8))
    assert _states(pending) == ["pending", "pending", "pending", "open"]
    assert pending[-1].breach.exceeded_since == 40 * 60.0
    calm = walk((100, 0.8), (105, 0.8), (106, 0.3), (50, 0.3), (59, 0.3), (60, 0.3))
    assert _states(calm) == ["pending", "open", "open", "open", "open", "resolved"]
    assert (calm[-1].breach.opened_at, calm[-1].breach.resolved_at) == (105 * 60.0, 105 * 60.0)
    again = walk((61, 0.8), (66, 0.8), breach=calm[-1].breach)
    assert [taken.opened for taken in again] == [False, True]
    assert end(pending[-1].breach, now=0.0).resolved_at == 45 * 60.0


def test_the_worst_of_a_fall_is_the_lowest(walk) -> None:
    """With `below` the sign turns."""
    support = Threshold(
        name="support",
        signal="entity_support",
        limit=Bound(value=0.8),
        comparison=Comparison.BELOW,
        min_records=1,
        hold=0.0,
    )
    steps = walk((0, 0.7), (1, 0.4), (2, 0.6), threshold=support)
    assert steps[-1].breach.worst == 0.4
    assert steps[-1].breach.contributors[0].value == 0.4


def test_live_precision_has_wilsons_interval() -> None:
    """8 of 10 by the published example: 0.490 … 0.943."""
    precision = live_precision(true=8, false=2)
    assert precision.value == 0.8
    assert (precision.low, precision.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_without_marks_precision_is_unknown() -> None:
    """Not 0, not 1."""
    assert live_precision(true=0, false=0).value is None
