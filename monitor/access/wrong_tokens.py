"""How often people's tokens may be wrong before they are told to wait.

One count for the whole front: behind a proxy all visitors have one address. A right token is
never counted and never kept waiting, so that nobody can lock its holders out; for the same
reason this stops no guessing, which the length of a token does (`openssl rand -hex 32` is
beyond all guessing). It keeps whoever tries from filling logs, and tells a misled script to
stop. Senders and scrapers are not counted: an exporter takes a 401 for final but tries again
after a 429, and its operator should read what is wrong.
"""

from __future__ import annotations

import math
from collections import deque
from datetime import datetime, timedelta

from monitor.ports import Clock

MOST = 10
WITHIN = timedelta(minutes=1)


class WrongTokens:
    """The latest wrong tokens of one front; for one event loop.

    >>> from datetime import UTC
    >>> wrong = WrongTokens(clock=lambda: datetime(2026, 3, 1, tzinfo=UTC), most=2)
    >>> wrong.shown(), wrong.shown(), wrong.shown()
    (None, None, 60)
    """

    def __init__(self, *, clock: Clock, most: int = MOST, within: timedelta = WITHIN) -> None:
        self._clock = clock
        self._within = within
        self._times: deque[datetime] = deque(maxlen=most)

    def shown(self) -> int | None:
        """Note a wrong token; the seconds to wait where there were too many, else `None`."""
        now = self._clock()
        if len(self._times) == self._times.maxlen:
            left = self._within - (now - self._times[0])
            if left > timedelta(0):
                # A clock that was put back must not make anybody wait for longer.
                return math.ceil(min(left, self._within).total_seconds())
        self._times.append(now)
        return None
