"""When replays pause and when they go on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.errors import ConfigurationError
from monitor.summarization.circuit import Circuit, CircuitState


def test_one_failure_pauses(clock):
    """The service did not ask for our load: its first sign of trouble is enough."""
    circuit = Circuit(pause=5, clock=clock)
    circuit.failed("status 500")
    assert circuit.state is CircuitState.OPEN
    assert circuit.paused_until == clock.now + timedelta(seconds=5)
    assert circuit.cause == "status 500"


def test_retry_after_lengthens_the_pause(clock):
    """The endpoint knows best when it wants to be asked again, above `pause_max` too."""
    circuit = Circuit(pause=5, pause_max=60, clock=clock)
    circuit.failed("status 429", retry_after=120)
    assert circuit.paused_until == clock.now + timedelta(seconds=120)


@pytest.mark.parametrize("retry_after", [None, 1200])
def test_a_clock_that_was_set_back_does_not_lengthen_the_pause(clock, retry_after):
    """Nothing would be scored until it has caught up; one call asks instead."""
    circuit = Circuit(pause=5, clock=clock)
    circuit.failed("status 429")
    circuit.failed("status 429", retry_after=retry_after)
    clock.move(-60)
    assert circuit.state is CircuitState.OPEN
    clock.move(-3600)
    assert circuit.state is CircuitState.HALF_OPEN
    circuit.failed("status 429")
    assert circuit.paused_until == clock.now + timedelta(seconds=10)


def test_pauses_double_until_one_helps(clock):
    """A service that stays in trouble is asked more and more rarely."""
    circuit = Circuit(pause=5, pause_max=15, clock=clock)
    lengths = []
    for _ in range(4):
        circuit.failed("status 503")
        lengths.append((circuit.paused_until - clock.now).total_seconds())
        clock.now = circuit.paused_until
    assert lengths == [5, 10, 15, 15]


def test_a_good_probe_closes_it_and_forgets_the_doubling(clock):
    """After the pause one good answer is enough."""
    circuit = Circuit(pause=5, clock=clock)
    for _ in range(2):
        circuit.failed("status 503")
        clock.move(60)
    assert circuit.state is CircuitState.HALF_OPEN
    circuit.succeeded(1.0)
    assert circuit.state is CircuitState.CLOSED
    circuit.failed("status 503")
    assert circuit.paused_until == clock.now + timedelta(seconds=5)


def test_failures_of_calls_in_flight_are_one_pause(clock):
    """Four concurrent calls that fail together are one trouble, not four."""
    circuit = Circuit(pause=5, clock=clock)
    for _ in range(4):
        circuit.failed("status 500")
    assert circuit.pauses == 1
    assert circuit.paused_until == clock.now + timedelta(seconds=5)


def test_rising_latency_pauses(clock):
    """A service that becomes three times slower is under load, before it fails."""
    circuit = Circuit(factor=3, warmup=20, clock=clock)
    for _ in range(30):
        circuit.succeeded(1.0)
    assert circuit.state is CircuitState.CLOSED
    made = 0
    while circuit.state is CircuitState.CLOSED and made < 20:
        circuit.succeeded(6.0)
        made += 1
    # The average is 2.5, then 3.55; thrice the baseline, which has risen to 1.1, is 3.3.
    assert made == 2
    assert circuit.cause.startswith("latency")


def test_one_slow_answer_does_not_pause(clock):
    """A single long document is no overload: 1 + 0.3 · 5 = 2.5 < 3 × 1."""
    circuit = Circuit(factor=3, warmup=20, clock=clock)
    for _ in range(30):
        circuit.succeeded(1.0)
    circuit.succeeded(6.0)
    assert circuit.state is CircuitState.CLOSED


def test_a_service_that_stays_slower_is_accepted_in_the_end(clock):
    """Else a slower model would end monitoring for ever."""
    circuit = Circuit(factor=3, warmup=5, clock=clock)
    for _ in range(10):
        circuit.succeeded(1.0)
    for _ in range(60):
        if circuit.state is CircuitState.OPEN:
            clock.now = circuit.paused_until
        circuit.succeeded(6.0)
    assert circuit.state is CircuitState.CLOSED


def test_a_slow_probe_pauses_again(clock):
    """The first answer after a pause decides, not the average from before it."""
    circuit = Circuit(factor=3, warmup=5, clock=clock)
    for _ in range(10):
        circuit.succeeded(1.0)
    circuit.failed("status 500")
    clock.move(10)
    circuit.succeeded(20.0)
    assert circuit.state is CircuitState.OPEN


@pytest.mark.parametrize("wrong", [{"pause": 0}, {"pause_max": 1}, {"factor": 1}, {"warmup": 0}])
def test_settings_that_cannot_work_are_refused(wrong):
    """The message names the key."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Circuit(**wrong)


def test_an_overload_does_not_become_its_own_norm(clock):
    """Slow answers of calls that were in flight must not raise the baseline."""
    circuit = Circuit(factor=3, warmup=5, clock=clock)
    for _ in range(10):
        circuit.succeeded(1.0)
    while circuit.state is CircuitState.CLOSED:
        circuit.succeeded(50.0)
    before = circuit.baseline
    for _ in range(20):
        circuit.succeeded(50.0)
    assert circuit.baseline == before


def test_noise_of_milliseconds_is_no_rising_latency(clock):
    """A fast service on a busy machine takes 40 ms instead of 4: nobody is hurt."""
    circuit = Circuit(factor=3, floor=0.5, warmup=5, clock=clock)
    for _ in range(10):
        circuit.succeeded(0.004)
    for _ in range(20):
        circuit.succeeded(0.04)
    assert circuit.state is CircuitState.CLOSED
