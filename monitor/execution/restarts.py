"""When a process that died is started again, on whichever machine it ran."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
HEALTHY_SECONDS = 60.0
"""A process that lived so long died of one record, not of its start: it restarts at once."""


@dataclass(slots=True)
class Restarts:
    """The pauses of one process; all times are seconds of one monotonic clock.

    >>> restarts = Restarts()
    >>> restarts.began(0.0), restarts.died(5.0), restarts.due(5.5), restarts.due(6.0)
    (None, 1.0, False, True)
    """

    pause: float = 0.0
    """Seconds that the last death costs."""
    _started: float = 0.0
    _not_before: float = 0.0

    def began(self, now: float) -> None:
        """Note a start."""
        self._started = now

    def died(self, now: float) -> float:
        """Note a death; the pause after it: none after a healthy life, else twice the last one."""
        healthy = now - self._started >= HEALTHY_SECONDS
        self.pause = 0.0 if healthy else min(max(2 * self.pause, FIRST_PAUSE), LONGEST_PAUSE)
        self._not_before = now + self.pause
        return self.pause

    def due(self, now: float) -> bool:
        """Whether the pause is over."""
        return now >= self._not_before
