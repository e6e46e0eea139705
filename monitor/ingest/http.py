"""The endpoints that take traffic in: posted records, OTLP and CloudEvents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import structlog
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from monitor.errors import DatabaseUnavailable, MalformedInput, MonitorError, Overloaded
from monitor.ingest import answers, cloudevents, kserve
from monitor.ingest.body import BodyReader, BodyRefused
from monitor.ingest.gathering import Gathering
from monitor.ingest.json_parts import Source
from monitor.ingest.otlp import decode_logs, decode_traces
from monitor.ingest.redaction import Redaction
from monitor.ingest.sighting import Decoded
from monitor.ingest.submission import Rejection, Submission, read_submission, record_from
from monitor.ports import Clock, Intake

log = structlog.get_logger(__name__)

_NDJSON = frozenset(
    {"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"}
)
_DATABASE_RETRY = 10.0

Decoder = Callable[..., Decoded]
Taken = Callable[..., Response]


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
    router = APIRouter(tags=["ingest"])
    reader = BodyReader(max_body=max_body)

    async def export(request: Request, decode: Decoder, taken: Taken) -> Response:
        content_type = _content_type(request)
        known = content_type in (answers.PROTOBUF, answers.JSON)
        encoding = content_type if known else answers.JSON

        async def take() -> Response:
            if not known:
                raise _unsupported(content_type, answers.PROTOBUF, answers.JSON)
            async with reader.read(request) as body:
                is_json = content_type == answers.JSON
                decoded = await asyncio.to_thread(decode, body, json=is_json)
                body.clear()  # up to 16 MiB that nothing needs any more
                await gathering.take(decoded.sightings)
            return taken(decoded, content_type=content_type)

        def refuse(status: int, message: str, retry_after: float | None) -> Response:
            return answers.export_refused(
                status, message, content_type=encoding, retry_after=retry_after
            )

        return await _answered(take, refuse, refused)

    async def submit(request: Request, read: Callable[[str, Source], Submission]) -> Response:
        async def take() -> Response:
            async with reader.read(request) as body:
                submission = await asyncio.to_thread(read, _content_type(request), body)
                body.clear()  # up to 16 MiB that nothing needs any more
                records = submission.records
                if redaction is not None:
                    records = await asyncio.to_thread(
                        lambda: tuple(redaction.record(record) for record in records)
                    )
                sampled = await intake.take(records) if records else []
            return answers.submission_taken(submission, sampled=sum(sampled))

        def refuse(status: int, message: str, retry_after: float | None) -> Response:
            return answers.submission_refused(status, message, retry_after=retry_after)

        return await _answered(take, refuse, refused)

    async def log_call(request: Request) -> Response:
        async def take() -> Response:
            async with reader.read(request) as body:
                sighting = await asyncio.to_thread(kserve.sighting, request.headers, body)
                body.clear()
                await gathering.take([sighting])
            return Response(status_code=200)

        def refuse(status: int, message: str, retry_after: float | None) -> Response:
            return answers.submission_refused(status, message, retry_after=retry_after)

        return await _answered(take, refuse, refused)

    def read_records(content_type: str, body: Source) -> Submission:
        if content_type != answers.JSON and content_type not in _NDJSON:
            raise _unsupported(content_type, answers.JSON, "application/x-ndjson")
        return read_submission(body, lines=content_type in _NDJSON, received_at=clock())

    @router.post("/v1/records", response_model=None)
    async def records(request: Request) -> Response:
        """Take in a record, an array of records, or NDJSON."""
        return await submit(request, read_records)

    @router.post("/v1/traces", response_model=None)
    async def traces(request: Request) -> Response:
        """Take in spans: OTLP/HTTP, protobuf or JSON."""
        return await export(request, decode_traces, answers.traces_taken)

    @router.post("/v1/logs", response_model=None)
    async def logs(request: Request) -> Response:
        """Take in log records: OTLP/HTTP, protobuf or JSON."""
        return await export(request, decode_logs, answers.logs_taken)

    @router.post("/v1/cloudevents", response_model=None)
    async def events(request: Request) -> Response:
        """Take in CloudEvents: KServe's logged calls, or (in every mode) records as data."""
        if kserve.is_logged(request.headers):
            return await log_call(request)

        def read(content_type: str, body: Source) -> Submission:
            return _validated(_event_items(content_type, request, body), received_at=clock())

        return await submit(request, read)

    return router


async def _answered(
    take: Callable[[], Awaitable[Response]],
    refuse: Callable[[int, str, float | None], Response],
    refused: Callable[[int], None],
) -> Response:
    """The answer of `take`, or the refusal that its error calls for."""
    retry_after: float | None = None
    try:
        return await take()
    except BodyRefused as error:
        status, message, retry_after = error.status, str(error), error.retry_after
    except MalformedInput as error:
        status, message = 400, str(error)
    except Overloaded as error:
        status, message, retry_after = 503, str(error), error.retry_after
    except DatabaseUnavailable:
        # What the driver says about the database is not the sender's business.
        status, message = 503, "the database does not answer; send it again later"
        retry_after = _DATABASE_RETRY
    log.warning("ingest_refused", status=status, problem=message)
    refused(status)
    return refuse(status, message, retry_after)


def _event_items(content_type: str, request: Request, body: Source) -> list[dict[str, Any]]:
    if content_type == cloudevents.STRUCTURED:
        return [cloudevents.from_body(body)]
    if content_type == cloudevents.BATCH:
        return cloudevents.from_batch(body)
    if content_type == answers.JSON:
        return [cloudevents.from_headers(request.headers, body)]
    raise _unsupported(content_type, cloudevents.STRUCTURED, cloudevents.BATCH, answers.JSON)


def _validated(items: list[dict[str, Any]], *, received_at: datetime) -> Submission:
    records, rejected = [], []
    for index, item in enumerate(items):
        try:
            records.append(record_from(item, received_at=received_at))
        except MalformedInput as fault:
            rejected.append(Rejection(index=index, field=fault.field, remedy=fault.remedy))
    return Submission(records=tuple(records), rejected=tuple(rejected))


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unsupported(content_type: str, *supported: str) -> MonitorError:
    return BodyRefused(
        415, f"the content type is {content_type[:80]!r}; send {' or '.join(supported)}"
    )
