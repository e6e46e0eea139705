"""What every endpoint does around its own work: read a body within limits, say why it will not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import structlog
from starlette.requests import Request
from starlette.responses import Response

from monitor.errors import DatabaseUnavailable, MalformedInput, Overloaded
from monitor.ingest.body import BodyReader, BodyRefused

log = structlog.get_logger(__name__)

_DATABASE_RETRY = 10.0

Take = Callable[[], Awaitable[Response]]
Refuse = Callable[[int, str, float | None], Response]
"""From status, message and the seconds after which a retry makes sense."""


class Door:
    """Where requests come in; one for all endpoints, whose bodies share its limits.

    `max_body` counts bytes after decompression; `refused` is told the status of each
    request that was not taken.
    """

    def __init__(self, *, max_body: int, refused: Callable[[int], None]) -> None:
        self._reader = BodyReader(max_body=max_body)
        self._refused = refused

    def body(self, request: Request) -> AbstractAsyncContextManager[bytearray]:
        """The body within its limits; raises `BodyRefused`, as `BodyReader.read` says."""
        return self._reader.read(request)

    async def answered(self, take: Take, refuse: Refuse) -> Response:
        """The answer of `take`, or the refusal that its error calls for."""
        retry_after: float | None = None
        problem: str | None = None
        try:
            return await take()
        except BodyRefused as error:
            status, message, retry_after = error.status, str(error), error.retry_after
        except MalformedInput as error:
            status, message = 400, str(error)
        except Overloaded as error:
            status, message, retry_after = 503, str(error), error.retry_after
        except DatabaseUnavailable as error:
            # What the driver says about the database is not the sender's business.
            status, message = 503, "the database does not answer; send it again later"
            problem, retry_after = str(error), _DATABASE_RETRY
        log.warning("ingest_refused", status=status, problem=problem or message)
        self._refused(status)
        return refuse(status, message, retry_after)


def content_type(request: Request) -> str:
    """Lower-case and without parameters; empty where none was sent."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def unsupported(sent: str, *supported: str) -> BodyRefused:
    """The refusal of a content type, with those that are taken."""
    return BodyRefused(415, f"the content type is {sent[:80]!r}; send {' or '.join(supported)}")
