"""When to try again what another system did not take."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from monitor.ports import Clock
from monitor.retry_after import retry_after_seconds

TURN_SECONDS = 5.0
"""After so long a job ends and goes on at its next turn: a front that stops waits for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How one try ended."""

    taken: bool
    status: int | None
    """Of the answer; `None` where there was none."""
    problem: str | None
    """For people: `status 500`, or the kind of error; never what was sent or answered."""
    retry_after: float | None
    """Seconds for which the receiver asked to be left alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backoff:
    """Pauses that double up to a longest one."""

    first: float
    """Seconds after the first failure."""
    longest: float
    """Seconds at most."""

    def pause(self, failures: int, *, asked: float | None = None) -> float:
        """Seconds to wait after so many failures in a row, or longer where that was asked.

        >>> [Backoff(first=2, longest=60).pause(n) for n in (1, 2, 3, 9)]
        [2.0, 4.0, 8.0, 60]
        >>> Backoff(first=2, longest=60).pause(1, asked=30)
        30
        """
        # The exponent is bounded: 2.0 ** 2000 raises.
        pause = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return max(pause, min(asked or 0, self.longest))


def post(
    client: httpx.Client, url: str, *, content: bytes, headers: dict[str, str], clock: Clock
) -> tuple[Outcome, bytes]:
    """Post once; the outcome and the body of the answer. Never raises for the network."""
    try:
        answer = client.post(url, content=content, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # The kind only: a message may quote the address, which may hold a secret.
        problem = type(error).__name__
        return Outcome(taken=False, status=None, problem=problem, retry_after=None), b""
    taken = answer.is_success
    return Outcome(
        taken=taken,
        status=answer.status_code,
        problem=None if taken else f"status {answer.status_code}",
        retry_after=retry_after_seconds(answer.headers.get("retry-after"), now=clock()),
    ), answer.content
