"""`POST /v1/cloudevents`: KServe's logged calls, and records as the data of events."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from monitor.ingest import answers, cloudevents, kserve
from monitor.ingest.door import Door, unsupported
from monitor.ingest.gathering import Gathering
from monitor.ingest.json_parts import Source
from monitor.ingest.posting import Posting, refused
from monitor.ingest.submission import Submission, submission_of
from monitor.ports import Clock


def event_routes(door: Door, posting: Posting, gathering: Gathering, clock: Clock) -> APIRouter:
    """The endpoint of CloudEvents in every mode: binary, structured, batched."""
    router = APIRouter()

    async def log_call(request: Request) -> Response:
        async def take() -> Response:
            async with door.body(request) as body:
                sighting = await asyncio.to_thread(kserve.sighting, request.headers, body)
                body.clear()
                await gathering.take([sighting])
            return Response(status_code=200)

        return await door.answered(take, refused)

    @router.post("/v1/cloudevents", response_model=None)
    async def events(request: Request) -> Response:
        """Take in CloudEvents: KServe's logged calls, or (in every mode) records as data."""
        if kserve.is_logged(request.headers):
            return await log_call(request)

        def read(content_type: str, body: Source) -> Submission:
            items = _items(content_type, request, body)
            return submission_of(items, received_at=clock())

        return await posting.submit(request, read)

    return router


def _items(content_type: str, request: Request, body: Source) -> list[dict[str, Any]]:
    if content_type == cloudevents.STRUCTURED:
        return [cloudevents.from_body(body)]
    if content_type == cloudevents.BATCH:
        return cloudevents.from_batch(body)
    if content_type == answers.JSON:
        return [cloudevents.from_headers(request.headers, body)]
    raise unsupported(content_type, cloudevents.STRUCTURED, cloudevents.BATCH, answers.JSON)
