"""The endpoints that take traffic in: posted records, OTLP and CloudEvents."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter

from monitor.ingest.door import Door
from monitor.ingest.event_routes import event_routes
from monitor.ingest.gathering import Gathering
from monitor.ingest.otlp_routes import otlp_routes
from monitor.ingest.posting import Posting
from monitor.ingest.record_routes import record_routes
from monitor.ingest.redaction import Redaction
from monitor.ports import Clock, Intake


def ingest_router(
    *,
    intake: Intake,
    gathering: Gathering,
    redaction: Redaction | None,
    clock: Clock,
    max_body: int = 16 * 2**20,
    refused: Callable[[int], None] = lambda status: None,
) -> APIRouter:
    """`POST /v1/records`, `/v1/traces`, `/v1/logs` and `/v1/cloudevents`.

    `max_body` counts bytes after decompression; `refused` is told the status of each
    request that was not taken. The gathering joins spans and logs; its `sweep` is to be
    called every few seconds by whoever owns it.
    """
    door = Door(max_body=max_body, refused=refused)
    posting = Posting(door=door, intake=intake, redaction=redaction)
    router = APIRouter(tags=["ingest"])
    router.include_router(record_routes(posting, clock))
    router.include_router(otlp_routes(door, gathering))
    router.include_router(event_routes(door, posting, gathering, clock))
    return router
