"""`POST /v1/traces` and `/v1/logs`: OTLP/HTTP, protobuf or JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from monitor.ingest import answers
from monitor.ingest.door import Door, content_type, unsupported
from monitor.ingest.gathering import Gathering
from monitor.ingest.otlp import decode_logs, decode_traces
from monitor.ingest.sighting import Decoded

Decoder = Callable[..., Decoded]
Taken = Callable[..., Response]


def otlp_routes(door: Door, gathering: Gathering) -> APIRouter:
    """The endpoints of spans and of log records; answers come in the request's encoding."""
    router = APIRouter()

    async def export(request: Request, decode: Decoder, taken: Taken) -> Response:
        sent = content_type(request)
        known = sent in (answers.PROTOBUF, answers.JSON)

        async def take() -> Response:
            if not known:
                raise unsupported(sent, answers.PROTOBUF, answers.JSON)
            async with door.body(request) as body:
                decoded = await asyncio.to_thread(decode, body, json=sent == answers.JSON)
                body.clear()  # up to 16 MiB that nothing needs any more
                await gathering.take(decoded.sightings)
            return taken(decoded, content_type=sent)

        def refuse(status: int, message: str, retry_after: float | None) -> Response:
            encoding = sent if known else answers.JSON
            return answers.export_refused(
                status, message, content_type=encoding, retry_after=retry_after
            )

        return await door.answered(take, refuse)

    @router.post("/v1/traces", response_model=None)
    async def traces(request: Request) -> Response:
        """Take in spans: OTLP/HTTP, protobuf or JSON."""
        return await export(request, decode_traces, answers.traces_taken)

    @router.post("/v1/logs", response_model=None)
    async def logs(request: Request) -> Response:
        """Take in log records: OTLP/HTTP, protobuf or JSON."""
        return await export(request, decode_logs, answers.logs_taken)

    return router
