"""Whose turn it is, and what becomes of a turn that comes too late."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.evaluation.turn import Evaluator

SETTINGS = {
    "drift": {"signals": ("hss",)},
    "thresholds": (
        {
            "name": "hss_mean",
            "signal": "hss",
            "limit": {"value": 0.5},
            "min_records": 1,
            "hold_seconds": 0,
        },
    ),
}


def test_one_of_two_evaluates(world, evaluator) -> None:
    """Two on one database would page twice."""
    world.add([0.9] * 3)
    first, second = evaluator("front-1", **SETTINGS), evaluator("front-2", **SETTINGS)
    assert [first.turn(), second.turn(), first.turn()] == [True, False, True]
    assert world.breaches.opened == ["hss_mean-1"]


def test_a_released_lease_is_taken_at_once(world, evaluator) -> None:
    """A sidecar that is rolled out anew leaves no gap of a minute."""
    first, second = evaluator("front-1", **SETTINGS), evaluator("front-2", **SETTINGS)
    first.turn()
    first.release()
    assert second.turn()


@pytest.mark.parametrize("released", [False, True])
def test_a_turn_that_lost_its_lease_writes_nothing(world, evaluator, monkeypatch, released) -> None:
    """Stopped in the middle, woken after another took over: its breach would be a second one.
    A lease that is free again by then is another one, and what was read before is old."""
    world.add([0.9] * 3)
    late, quick = evaluator("front-1", **SETTINGS), evaluator("front-2", **SETTINGS)
    series = world.samples.series

    def slept(**options):
        monkeypatch.setattr(world.samples, "series", series)
        world.clock.now += timedelta(minutes=5)
        assert quick.turn()
        if released:
            quick.release()
        return series(**options)

    monkeypatch.setattr(world.samples, "series", slept)
    assert not late.turn()
    assert world.breaches.opened == ["hss_mean-1"]
    assert world.lease.row.holder == ("front-1" if released else "front-2")


def test_a_complete_turn_is_noted(world, evaluator) -> None:
    """Alerts on an evaluator that hangs look at this moment."""
    one: Evaluator = evaluator(**SETTINGS)
    one.turn()
    assert world.lease.row.evaluated_at == world.clock.now


def test_a_long_turn_keeps_its_lease(world, evaluator, monkeypatch) -> None:
    """It renews between its halves, so a turn may take longer than half a lease."""
    world.add([0.9] * 3)
    one = evaluator(**SETTINGS)
    until = world.samples.finished_until

    def slow(*args, **options):
        world.clock.now += timedelta(seconds=50)
        return until(*args, **options)

    monkeypatch.setattr(world.samples, "finished_until", slow)
    assert one.turn()
    assert world.lease.row.until - world.clock.now == timedelta(seconds=60)
