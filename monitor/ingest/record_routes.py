"""`POST /v1/records`: records as JSON or NDJSON, from whoever can build them."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from monitor.ingest import answers
from monitor.ingest.door import unsupported
from monitor.ingest.json_parts import Source
from monitor.ingest.posting import Posting
from monitor.ingest.submission import Submission, read_submission
from monitor.ports import Clock

_NDJSON = frozenset(
    {"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"}
)


def record_routes(posting: Posting, clock: Clock) -> APIRouter:
    """The endpoint of records that are posted as such."""
    router = APIRouter()

    def read(content_type: str, body: Source) -> Submission:
        if content_type != answers.JSON and content_type not in _NDJSON:
            raise unsupported(content_type, answers.JSON, "application/x-ndjson")
        return read_submission(body, lines=content_type in _NDJSON, received_at=clock())

    @router.post("/v1/records", response_model=None)
    async def records(request: Request) -> Response:
        """Take in a record, an array of records, or NDJSON."""
        return await posting.submit(request, read)

    return router
