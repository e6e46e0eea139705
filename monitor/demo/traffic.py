"""The readers of the demo: they ask the service to summarize real articles."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from monitor.errors import ConfigurationError

PROMPT = "Summarise the following article in three sentences.\n\n"
MODEL = "demo-news-1"
TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CallResult:
    """One call and what came of it."""

    index: int
    """Place of the document in what the generator was given."""
    trace_id: str
    """Of the call's trace, which its record carries too: 32 hex digits."""
    summary: str | None
    """`None` where the service did not answer with 200."""
    status: int | None
    """`None` where the connection broke off."""
    seconds: float


class TrafficGenerator:
    """Sends documents in an order that depends on `seed` only, over and over.

    `per_second` paces the calls (`None`: one after the other, as fast as they are answered).
    Every call begins a trace of its own with fresh random ids: the same ids in a second run
    would be the same records to a monitor. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        base_url: str,
        documents: Sequence[str],
        *,
        seed: int = 0,
        per_second: float | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not documents:
            raise ConfigurationError("documents: are none; give at least one to send")
        self.calls = 0
        """Calls made, whatever came of them."""
        self.answered = 0
        """Calls that were answered with a summary."""
        self._documents = tuple(documents)
        self._order = list(range(len(documents)))
        random.Random(seed).shuffle(self._order)  # noqa: S311 - an order, not a secret
        self._gap = 0.0 if per_second is None else 1.0 / per_second
        self._sleep, self._monotonic = sleep, monotonic
        self._client = httpx.Client(
            base_url=base_url, timeout=TIMEOUT_SECONDS, transport=transport, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def send(self, count: int) -> list[CallResult]:
        """The next `count` calls, one after the other; a failed call is a result, too."""
        return [self._send() for _ in range(count)]

    def _send(self) -> CallResult:
        index = self._order[self.calls % len(self._order)]
        self.calls += 1
        messages = [{"role": "user", "content": PROMPT + self._documents[index]}]
        trace_id = secrets.token_hex(16)
        started = self._monotonic()
        status, summary = self._answer(
            {"model": MODEL, "messages": messages, "temperature": 0.0, "max_tokens": 300},
            {"traceparent": f"00-{trace_id}-{secrets.token_hex(8)}-01"},
        )
        seconds = self._monotonic() - started
        self.answered += summary is not None
        if self._gap > seconds:
            self._sleep(self._gap - seconds)
        return CallResult(
            index=index, trace_id=trace_id, summary=summary, status=status, seconds=seconds
        )

    def _answer(
        self, body: dict[str, object], headers: dict[str, str]
    ) -> tuple[int | None, str | None]:
        try:
            response = self._client.post("/v1/chat/completions", json=body, headers=headers)
        except httpx.RequestError:
            return None, None
        if response.status_code != httpx.codes.OK:
            return response.status_code, None
        content: str = response.json()["choices"][0]["message"]["content"]
        return response.status_code, content
