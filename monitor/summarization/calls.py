"""Calls to an endpoint over HTTP: concurrent, limited, retried, never raising for a task.

    reserve tokens → wait for a slot → one attempt within its timeout → retry or answer

429, 408, 5xx and lost connections are tried again after a growing, jittered pause, or after
the `Retry-After` that the endpoint asked for. A timeout is not: a second try would double
the load on an endpoint that is already slow. The environment is not read: no proxy and no
`.netrc` can take a text or a key elsewhere than configured.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_random_exponential

from monitor.ports import Clock
from monitor.records import Reason, Summary
from monitor.retry_after import retry_after_seconds
from monitor.summarization.address import checked_key, checked_url
from monitor.summarization.answers import Answer, failed
from monitor.summarization.attempt import Attempt, refused
from monitor.summarization.circuit import Circuit, CircuitState
from monitor.summarization.limits import CallLimits, RateLimit, TokenBudget, utc_now

_log = structlog.get_logger(__name__)

TransportFactory = Callable[[], httpx.AsyncBaseTransport]
"""Makes the transport of one batch: a proxy, an own certificate authority, a mock."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request that is ready to be sent."""

    body: bytes
    """JSON."""
    expected_tokens: int
    """Reserved from the day's budget until the endpoint tells the real count."""
    headers: Mapping[str, str] = field(default_factory=dict)


class Endpoint:
    """One URL with its limits; keeps rate, budget and circuit from batch to batch.

    `read` turns the decoded JSON of a 200 into an `Answer` and must not raise. The key is
    sent as a bearer token and stands in no log, message or `repr`. `clock`, `monotonic`
    (seconds) and `sleep` are handed in by tests. Raises `ConfigurationError`.
    """

    def __init__(
        self,
        url: str,
        *,
        read: Callable[[Any], Answer],
        limits: CallLimits,
        api_key: str | None = None,
        circuit: Circuit | None = None,
        transport: TransportFactory | None = None,
        clock: Clock = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._url = checked_url(url)
        self._headers = {"content-type": "application/json"}
        if api_key is not None:
            self._headers["authorization"] = f"Bearer {checked_key(api_key)}"
        self.limits = limits
        self.budget = TokenBudget(limits.tokens_per_day, clock=clock)
        self.circuit = circuit
        self._read = read
        self._transport = transport
        self._clock, self._monotonic, self._sleep = clock, monotonic, sleep
        self._rate = RateLimit(limits.requests_per_second, monotonic=monotonic)
        self._backoff = wait_random_exponential(multiplier=limits.backoff, max=limits.backoff_max)

    def call_all(self, calls: Sequence[Call | Summary]) -> list[Summary]:
        """One summary a call, in order; what is a summary already is passed through.

        Runs an event loop of its own, so it must not be called from inside one.
        """
        return asyncio.run(self._call_all(calls))

    async def _call_all(self, calls: Sequence[Call | Summary]) -> list[Summary]:
        gate = asyncio.Semaphore(self.limits.concurrency)
        async with httpx.AsyncClient(
            transport=self._transport() if self._transport else None,
            timeout=None,  # noqa: S113 - an attempt has one deadline, set around all of it
            trust_env=False,
            headers=self._headers,
        ) as client:
            answers: list[Summary] = []
            if self.circuit is not None and self.circuit.state is CircuitState.HALF_OPEN:
                # After a pause one call goes ahead; the others see how it fared.
                while len(answers) < len(calls) and self.circuit.state is CircuitState.HALF_OPEN:
                    answers.append(await self._task(client, gate, calls[len(answers)]))
            rest = [self._task(client, gate, call) for call in calls[len(answers) :]]
            return answers + list(await asyncio.gather(*rest))

    async def _task(
        self, client: httpx.AsyncClient, gate: asyncio.Semaphore, call: Call | Summary
    ) -> Summary:
        if isinstance(call, Summary):
            return call
        async with gate:
            # Inside the gate: a pause or a used-up budget stops what still waits in line.
            if (paused := self._paused()) is not None:
                return paused.summary(attempts=0)
            reservation = self.budget.reserve(call.expected_tokens)
            if reservation is None:
                return self._over_budget().summary(attempts=0)
            last, attempts, used = await self._attempts(client, call)
        self.budget.settle(reservation, used=used)
        if last.answer.text is None:
            _log.warning(
                "summarizer_call_failed",
                reason=str(last.answer.reason),
                detail=last.answer.detail,
                attempts=attempts,
            )
        return last.summary(attempts=attempts)

    async def _attempts(self, client: httpx.AsyncClient, call: Call) -> tuple[Attempt, int, int]:
        """The last attempt, how many were made, and the tokens of all of them together."""
        first: float | None = None
        made = used = 0

        async def attempt() -> Attempt:
            nonlocal first, made, used
            if (delay := self._rate.reserve()) > 0:
                await self._sleep(delay)
            if (paused := self._paused()) is not None:
                return paused
            first = self._monotonic() if first is None else first
            made += 1
            tried = await self._attempt(client, call)
            used += tried.used(call.expected_tokens)
            return tried

        def stop(state: RetryCallState) -> bool:
            # Another attempt that would begin after the time limit is not waited for.
            elapsed = self._monotonic() - (first or 0.0)
            return made >= self.limits.attempts or (
                elapsed + state.upcoming_sleep > self.limits.time_limit
            )

        def wait(state: RetryCallState) -> float:
            return max(_outcome(state).retry_after, self._backoff(state))

        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=stop,
            wait=wait,
            retry=retry_if_result(self._retryable),
            retry_error_callback=_outcome,
        )
        last: Attempt = await retrying(attempt)
        return last, made, used

    def _retryable(self, attempt: Attempt) -> bool:
        # A paused endpoint is left alone: the record comes back later.
        return attempt.retryable and self._paused() is None

    async def _attempt(self, client: httpx.AsyncClient, call: Call) -> Attempt:
        started = self._monotonic()
        try:
            async with asyncio.timeout(self.limits.timeout):
                status, retry_after, content = await self._send(client, call)
        except (TimeoutError, httpx.TimeoutException):
            late = failed(f"no answer within {self.limits.timeout:g} s", Reason.SUMMARIZER_TIMEOUT)
            return self._broken(late, self._monotonic() - started)
        except httpx.RequestError as error:
            lost = failed(f"the call broke off ({type(error).__name__})")
            # An endpoint that was never reached has used no tokens.
            charged = not isinstance(error, httpx.ConnectError)
            return self._broken(lost, self._monotonic() - started, retryable=True, charged=charged)
        seconds = self._monotonic() - started
        if status != httpx.codes.OK:
            return self._refused(status, retry_after, seconds)
        if self.circuit is not None:
            self.circuit.succeeded(seconds)
        return Attempt(answer=self._decoded(content), seconds=seconds)

    async def _send(
        self, client: httpx.AsyncClient, call: Call
    ) -> tuple[int, float | None, bytes | None]:
        """Status, the wait that was asked for, and the body, `None` where it is too long."""
        async with client.stream(
            "POST", self._url, content=call.body, headers=call.headers
        ) as response:
            wait = retry_after_seconds(response.headers.get("retry-after"), now=self._clock())
            if response.status_code != httpx.codes.OK:
                return response.status_code, wait, None
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > self.limits.max_answer_bytes:
                    return response.status_code, wait, None
            return response.status_code, wait, bytes(content)

    def _decoded(self, content: bytes | None) -> Answer:
        if content is None:
            return failed(f"the answer is longer than {self.limits.max_answer_bytes} bytes")
        try:
            decoded = json.loads(content)
        except (ValueError, RecursionError):
            return failed("the answer is not JSON")
        return self._read(decoded)

    def _refused(self, status: int, retry_after: float | None, seconds: float) -> Attempt:
        attempt = refused(status, retry_after=retry_after, seconds=seconds)
        if self.circuit is not None and attempt.retryable:
            self.circuit.failed(f"status {status}", retry_after=retry_after)
        return attempt

    def _broken(
        self, answer: Answer, seconds: float, *, retryable: bool = False, charged: bool = True
    ) -> Attempt:
        if self.circuit is not None:
            self.circuit.failed(answer.detail)
        return Attempt(answer=answer, seconds=seconds, retryable=retryable, charged=charged)

    def _paused(self) -> Attempt | None:
        if self.circuit is None or self.circuit.state is not CircuitState.OPEN:
            return None
        until = self.circuit.paused_until
        detail = f"paused until {until:%Y-%m-%dT%H:%M:%SZ} ({self.circuit.cause})"
        return Attempt(answer=failed(detail, Reason.SUMMARIZER_THROTTLED), charged=False)

    def _over_budget(self) -> Attempt:
        detail = (
            f"tokens_per_day {self.budget.per_day} holds no further call; "
            f"it begins anew at {self.budget.resets_at:%Y-%m-%dT%H:%M:%SZ}"
        )
        return Attempt(answer=failed(detail, Reason.OVER_BUDGET), charged=False)


def _outcome(state: RetryCallState) -> Attempt:
    if state.outcome is None:  # tenacity asks only after an attempt
        raise RuntimeError("a retry decision was asked for before the first attempt")
    result: Attempt = state.outcome.result()
    return result
