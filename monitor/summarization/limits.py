"""How much an endpoint is asked: time, concurrency, requests per second, tokens per day.

All limits hold for one process. A deployment with several scorers gives each its part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day

from monitor.errors import ConfigurationError
from monitor.ports import Clock

ANSWER_TOKENS = 256
"""Expected length of an answer whose request sets no limit."""

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English; only used until the endpoint tells the real count."""


def utc_now() -> datetime:
    """The wall clock, as aware UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallLimits:
    """The limits of the calls to one endpoint. Raises `ConfigurationError`."""

    timeout: float
    """Seconds for one attempt, from the connection to the last byte of the answer."""
    time_limit: float
    """Seconds from the first attempt of a task to the latest start of another one."""
    attempts: int
    """Attempts a task, the first included."""
    concurrency: int
    """Calls in flight at a time."""
    requests_per_second: float | None
    """Attempts started per second, evenly spaced, retries included; `None` is no limit."""
    tokens_per_day: int | None
    """Prompt and completion tokens per UTC day; `None` is no limit."""
    backoff: float = 0.5
    """Seconds; before attempt n+1 waits up to backoff · 2ⁿ, drawn uniformly (full jitter)."""
    backoff_max: float = 30.0
    """Upper end of that draw, in seconds. A `Retry-After` may ask for more."""
    max_answer_bytes: int = 4 * 1024 * 1024
    """A longer answer is not read to its end."""

    def __post_init__(self) -> None:
        for name in (
            "timeout",
            "time_limit",
            "attempts",
            "concurrency",
            "requests_per_second",
            "backoff_max",
            "max_answer_bytes",
        ):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigurationError(f"{name}: {value!r} is not positive; set it above 0")
        if self.backoff < 0:
            raise ConfigurationError(f"backoff: {self.backoff!r} is negative; set 0 or more")
        if self.tokens_per_day is not None and self.tokens_per_day < 0:
            raise ConfigurationError(
                f"tokens_per_day: {self.tokens_per_day!r} is negative; "
                "set 0 or more, or leave it out for no limit"
            )


class RateLimit:
    """Evenly spaced starts: no burst after an idle time, whatever was saved up by then."""

    def __init__(
        self, per_second: float | None, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._gap = 0.0 if per_second is None else 1.0 / per_second
        self._monotonic = monotonic
        self._next = float("-inf")

    def reserve(self) -> float:
        """Take the next free slot; returns the seconds until it begins, at least 0."""
        now = self._monotonic()
        start = max(now, self._next)
        self._next = start + self._gap
        return start - now


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """Tokens set aside for a call in flight."""

    day: date
    tokens: int


class TokenBudget:
    """Tokens per UTC day. What a call will use is reserved before it and settled after it,
    so that calls in flight at the same time cannot overrun the budget together."""

    def __init__(self, per_day: int | None, *, clock: Clock = utc_now) -> None:
        self.per_day = per_day
        self._clock = clock
        self._day = clock().date()
        self._spent = 0

    @property
    def spent(self) -> int:
        """Tokens used or reserved today."""
        self._roll_over()
        return self._spent

    @property
    def resets_at(self) -> datetime:
        """The next UTC midnight."""
        return datetime.combine(self._clock().date() + timedelta(days=1), time_of_day(), tzinfo=UTC)

    def reserve(self, tokens: int) -> Reservation | None:
        """Set tokens aside; `None` where today's budget does not hold that many more."""
        self._roll_over()
        if self.per_day is not None and self._spent + tokens > self.per_day:
            return None
        self._spent += tokens
        return Reservation(day=self._day, tokens=tokens)

    def settle(self, reservation: Reservation, *, used: int) -> None:
        """Replace a reservation by what was used; a call that began yesterday is yesterday's."""
        self._roll_over()
        if reservation.day == self._day:
            self._spent += used - reservation.tokens

    def _roll_over(self) -> None:
        today = self._clock().date()
        if today != self._day:
            self._day, self._spent = today, 0


def expected_tokens(characters: int, parameters: Mapping[str, object]) -> int:
    """What a call will probably use: the prompt's length / 4 and the longest answer.

    >>> expected_tokens(400, {"max_tokens": 50})
    150
    """
    told = [parameters.get(name) for name in ("max_completion_tokens", "max_tokens")]
    longest = [value for value in told if type(value) is int and value > 0]
    return characters // CHARACTERS_PER_TOKEN + (longest[0] if longest else ANSWER_TOKENS)
