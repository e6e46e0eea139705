"""Pauses between the lives of one process."""

from __future__ import annotations

from monitor.execution.restarts import Restarts


def _pauses(lives: list[float]) -> list[float]:
    """The pause after each life of so many seconds, each started when its pause is over."""
    restarts, now, pauses = Restarts(), 0.0, []
    for life in lives:
        restarts.began(now)
        now += life
        pauses.append(restarts.died(now))
        assert not restarts.due(now + pauses[-1] - 0.01) or pauses[-1] == 0.0
        now += pauses[-1]
        assert restarts.due(now)
    return pauses


def test_pauses_double_up_to_a_minute() -> None:
    """A wrong model path must not eat the machine with restarts."""
    assert _pauses([0.5] * 9) == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_a_healthy_life_costs_no_pause_and_ends_the_doubling() -> None:
    """It died of one record, not of its start."""
    assert _pauses([0.5, 0.5, 60.0, 0.5]) == [1.0, 2.0, 0.0, 1.0]
