"""Rate, budget and the settings they come from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.errors import ConfigurationError
from monitor.summarization.limits import CallLimits, RateLimit, TokenBudget


def test_starts_are_spaced_evenly(clock):
    """A burst would hit the endpoint with everything that was saved up."""
    rate = RateLimit(4.0, monotonic=clock.monotonic)
    assert [rate.reserve() for _ in range(3)] == pytest.approx([0.0, 0.25, 0.5])


def test_idle_time_is_not_saved_up(clock):
    """After an idle minute the second call waits as long as ever."""
    rate = RateLimit(4.0, monotonic=clock.monotonic)
    rate.reserve()
    clock.move(60)
    assert [rate.reserve(), rate.reserve()] == pytest.approx([0.0, 0.25])


def test_no_rate_means_no_wait(clock):
    """`requests_per_second: null` is offered by the configuration."""
    rate = RateLimit(None, monotonic=clock.monotonic)
    assert [rate.reserve() for _ in range(3)] == [0.0, 0.0, 0.0]


def test_budget_counts_calls_in_flight(clock):
    """Calls that run at the same time must not overrun it together."""
    budget = TokenBudget(100, clock=clock)
    assert budget.reserve(60) is not None
    assert budget.reserve(60) is None


def test_settling_frees_what_was_not_used(clock):
    """A reservation is a guess; the endpoint's own count is what stays."""
    budget = TokenBudget(100, clock=clock)
    reservation = budget.reserve(60)
    budget.settle(reservation, used=10)
    assert budget.spent == 10


def test_budget_begins_anew_at_utc_midnight(clock):
    """The clock stands at 23:00; an hour later another day's tokens are there."""
    budget = TokenBudget(100, clock=clock)
    assert budget.reserve(100) is not None
    assert budget.reserve(1) is None
    assert budget.resets_at == datetime(2026, 3, 2, tzinfo=UTC)
    clock.move(3600)
    assert budget.spent == 0
    assert budget.reserve(100) is not None


def test_a_call_that_ends_tomorrow_is_yesterdays(clock):
    """Else settling a call over midnight would make today's count negative."""
    budget = TokenBudget(100, clock=clock)
    reservation = budget.reserve(60)
    clock.move(3600)
    budget.settle(reservation, used=10)
    assert budget.spent == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timeout", 0),
        ("attempts", 0),
        ("concurrency", -1),
        ("requests_per_second", 0.0),
        ("backoff", -0.1),
        ("tokens_per_day", -5),
    ],
)
def test_a_limit_that_cannot_hold_is_refused_by_name(field, value):
    """The message has to name the key that is to be corrected."""
    limits = CallLimits(
        timeout=60,
        time_limit=180,
        attempts=4,
        concurrency=4,
        requests_per_second=5,
        tokens_per_day=None,
    )
    with pytest.raises(ConfigurationError, match=field):
        replace(limits, **{field: value})
