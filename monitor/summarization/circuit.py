"""When replays pause: the live service comes first.

A replay is load that the service did not ask for. So the first sign of trouble, a 429, a
5xx, a lost connection, a timeout or a rising latency, stops all replays for a while.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

import structlog

from monitor.errors import ConfigurationError
from monitor.ports import SET_BACK, Clock
from monitor.summarization.limits import utc_now

_log = structlog.get_logger(__name__)

_FAST = 0.3
"""Weight of the newest call in the latency average: about the last five calls count."""
_SLOW = 0.02
"""Weight of a call in the baseline: about the last hundred."""
_PROBE = 0.1
"""Weight of a slow probe in the baseline, so that a service that became slower for good
is accepted after some pauses instead of never being asked again."""


class CircuitState(StrEnum):
    """Whether calls may go out."""

    CLOSED = "closed"
    """Calls go out."""
    OPEN = "open"
    """Paused: no call goes out."""
    HALF_OPEN = "half_open"
    """The pause is over; one call goes ahead of the others to probe the endpoint."""


class Circuit:
    """Pauses on failures, and when the latency average exceeds `factor` × the baseline.

    An average below `floor` seconds never counts as rising: where an answer takes
    milliseconds, their own noise is more than a factor.

    The baseline is the mean latency of the first `warmup` answers and then follows slowly,
    but only while the endpoint is not slow, so that an overload cannot become its own norm.
    A pause lasts `pause` seconds, twice as long after each pause that did not help, at most
    `pause_max`; a longer `Retry-After` is honoured. One of which much more is left than it was
    given ends: the clock was set back since. One thread, no locks.
    """

    def __init__(
        self,
        *,
        pause: float = 5.0,
        pause_max: float = 300.0,
        factor: float = 3.0,
        floor: float = 0.5,
        warmup: int = 20,
        clock: Clock = utc_now,
    ) -> None:
        if not (pause > 0 and pause_max >= pause):
            raise ConfigurationError(
                f"pause: {pause!r} with pause_max {pause_max!r}; set 0 < pause ≤ pause_max"
            )
        if factor <= 1 or warmup < 1:
            raise ConfigurationError(
                f"factor: {factor!r} with warmup {warmup!r}; "
                "set factor above 1 and warmup to 1 or more"
            )
        self._pause, self._pause_max = pause, pause_max
        self._factor, self._floor, self._warmup = factor, floor, warmup
        self._clock = clock
        self._failed_pauses = 0
        self._longest = timedelta(0)
        """What may be left of the pause."""
        self._answers = 0
        self.paused_until: datetime | None = None
        """End of the pause; stays set while half open, `None` while closed."""
        self.cause = ""
        """Why it paused last: a status, a failure or a latency, for people."""
        self.pauses = 0
        """Pauses so far."""
        self.baseline: float | None = None
        """Seconds; `None` before the first answer."""
        self.latency: float | None = None
        """Moving average of the latest answers, in seconds."""

    @property
    def state(self) -> CircuitState:
        if self.paused_until is None:
            return CircuitState.CLOSED
        left = self.paused_until - self._clock()
        paused = timedelta(0) < left <= self._longest + SET_BACK
        return CircuitState.OPEN if paused else CircuitState.HALF_OPEN

    def failed(self, cause: str, *, retry_after: float | None = None) -> None:
        """A call was refused, broke off or timed out: pause."""
        self._open(cause, at_least=retry_after or 0.0)

    def succeeded(self, seconds: float) -> None:
        """An answer came after `seconds`: close, or pause where it shows rising latency."""
        probing = self.state is CircuitState.HALF_OPEN
        warm = self._answers >= self._warmup
        self._answers += 1
        if self.baseline is None or self.latency is None:
            self.baseline = self.latency = seconds
        elif not warm:
            self.baseline += (seconds - self.baseline) / self._answers
            self.latency += _FAST * (seconds - self.latency)
        else:
            # The average still holds the latencies that led to the pause.
            self.latency = seconds if probing else self.latency + _FAST * (seconds - self.latency)
            slow = self.latency > max(self._factor * self.baseline, self._floor)
            if not slow or probing:
                weight = _PROBE if probing else _SLOW
                self.baseline += weight * (seconds - self.baseline)
            if slow:
                self._open(f"latency {self.latency:.2f} s", at_least=0.0)
                return
        if probing:
            self.paused_until, self._failed_pauses = None, 0
            _log.info("summarizer_pause_ended", cause=self.cause)

    def _open(self, cause: str, *, at_least: float) -> None:
        now = self._clock()
        seconds = max(at_least, min(self._pause * 2**self._failed_pauses, self._pause_max))
        until = now + timedelta(seconds=seconds)
        if self.state is CircuitState.OPEN and self.paused_until is not None:
            # Calls that were in flight when the pause began: one trouble, one pause.
            self.paused_until = max(self.paused_until, now + timedelta(seconds=at_least))
            self._longest = max(self._longest, timedelta(seconds=at_least))
            return
        self.paused_until, self.cause = until, cause
        self._longest = until - now
        self.pauses += 1
        self._failed_pauses = min(self._failed_pauses + 1, 30)
        _log.warning("summarizer_paused", cause=cause, seconds=round(seconds, 1))
