"""`POST /v1/cloudevents`: KServe's logged calls, and records as the data of events."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from monitor.errors import MalformedInput
from monitor.ingest import answers, cloudevents, kserve
from monitor.ingest.door import Door, unsupported
from monitor.ingest.gathering import Gathering
from monitor.ingest.json_parts import Source
from monitor.ingest.posting import Posting, refused
from monitor.ingest.submission import Rejection, Submission, record_from
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
            return _validated(_items(content_type, request, body), received_at=clock())

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


def _validated(items: list[dict[str, Any]], *, received_at: datetime) -> Submission:
    records, rejected = [], []
    for index, item in enumerate(items):
        try:
            records.append(record_from(item, received_at=received_at))
        except MalformedInput as fault:
            rejected.append(Rejection(index=index, field=fault.field, remedy=fault.remedy))
    return Submission(records=tuple(records), rejected=tuple(rejected))
