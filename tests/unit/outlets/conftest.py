"""Rows, a clock and a receiver in place of the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from monitor.storage.score_rows import ScoreRow

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MakeRow = Callable[..., ScoreRow]


class FakeClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Receiver:
    """Answers what it is told, the last answer for ever, and keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[httpx.Response | httpx.TransportError] = [httpx.Response(200)]
        self.requests: list[httpx.Request] = []
        self.client = httpx.Client(transport=httpx.MockTransport(self._answer))

    def says(self, *answers: httpx.Response | httpx.TransportError) -> None:
        self.answers = list(answers)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, httpx.TransportError):
            raise answer
        return answer


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def make_row() -> MakeRow:
    """A scored record, finished `seconds` after the start."""

    def make(record_id: str = "r1", *, seconds: float = 0.0, **fields: object) -> ScoreRow:
        values: dict[str, object] = dict.fromkeys(ScoreRow.__slots__)
        values |= {
            "record_id": record_id,
            "received_at": START,
            "finished_at": START + timedelta(seconds=seconds),
            "service": "news",
            "model": "gemma",
            "category": "politics",
            "trace_id": "ab" * 16,
            "span_id": "cd" * 8,
            "probability": 0.5,
            "hss": 0.25,
            "hss_low": 0.1,
            "hss_high": 0.4,
            "raw_distance": 0.2,
            "null_distance": 0.05,
            "distances": 8,
            "entity_support": 0.75,
            "entities": 4,
            "number_support": 0.5,
            "numbers": 2,
            "shap_instability": 0.3,
            "shap_noise_floor": 0.05,
            "fingerprint": "fp",
        } | fields
        return ScoreRow(**values)  # type: ignore[arg-type]  # as a test asks

    return make


@pytest.fixture
def count() -> tuple[Callable[[str], None], Sequence[str]]:
    """(what is told, what was told)."""
    told: list[str] = []
    return told.append, told
