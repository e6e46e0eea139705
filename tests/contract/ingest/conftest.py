"""The ingest endpoints in a bare application, with an intake that remembers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from monitor.errors import MonitorError
from monitor.ingest.extraction import Extraction
from monitor.ingest.gathering import Gathering
from monitor.ingest.http import ingest_router
from monitor.ingest.join import JoinBuffer
from monitor.ingest.redaction import Redaction
from monitor.records import IncomingRecord, Reason

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "otlp"


@dataclass
class RememberingIntake:
    """`ports.Intake` that samples everything, and refuses while `error` is set."""

    records: dict[str, IncomingRecord] = field(default_factory=dict)
    reasons: Counter[Reason] = field(default_factory=Counter)
    replays: int = 0
    error: MonitorError | None = None

    async def take(self, records: Sequence[IncomingRecord]) -> list[bool]:
        if self.error is not None:
            raise self.error
        for record in records:
            self.records.setdefault(record.id, record)
        return [True] * len(records)

    def skipped(self, reason: Reason, count: int = 1) -> None:
        self.reasons[reason] += count

    def replay_ignored(self, count: int = 1) -> None:
        self.replays += count


@dataclass
class Front:
    """An application with the ingest endpoints, its intake, and its clock."""

    app: FastAPI
    intake: RememberingIntake
    gathering: Gathering
    time: list[datetime]
    refusals: list[int]

    def post(self, path: str, content: Any = b"", **headers: str) -> httpx.Response:
        """Send one request; `content_type="…"` and other headers by their Python names."""
        named = {name.replace("_", "-"): told for name, told in headers.items()}

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://front") as client:
                return await client.post(path, content=content, headers=named)

        return asyncio.run(send())

    def wait(self, seconds: float) -> None:
        """Let time pass and count what waited in vain."""
        self.time[0] += timedelta(seconds=seconds)
        self.gathering.sweep()


@pytest.fixture
def make_front() -> Callable[..., Front]:
    def make(
        *,
        max_body: int = 16 * 2**20,
        redaction: Redaction | None = None,
        extraction: Extraction | None = None,
        join: JoinBuffer | None = None,
    ) -> Front:
        intake = RememberingIntake()
        time = [datetime(2026, 11, 30, 8, tzinfo=UTC)]
        refusals: list[int] = []
        gathering = Gathering(
            intake=intake,
            extraction=extraction or Extraction(),
            redaction=redaction,
            join=join or JoinBuffer(),
            clock=lambda: time[0],
        )
        app = FastAPI()
        app.include_router(
            ingest_router(
                intake=intake,
                gathering=gathering,
                redaction=redaction,
                clock=lambda: time[0],
                max_body=max_body,
                refused=refusals.append,
            )
        )
        return Front(app=app, intake=intake, gathering=gathering, time=time, refusals=refusals)

    return make


@pytest.fixture
def front(make_front: Callable[..., Front]) -> Front:
    return make_front()


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    """Reads a telemetry sample; skips where the folder of samples is not there."""

    def read(name: str) -> bytes:
        path = SAMPLES / name
        if not path.exists():
            pytest.skip(f"the telemetry samples are not at {SAMPLES}")
        return path.read_bytes()

    return read
