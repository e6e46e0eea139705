"""Reading request bodies within limits of size, time and number.

A body is inflated while it arrives and refused as soon as it exceeds the limit, so a
"gzip bomb" costs no more than the limit. Bodies beyond 64 KiB need one of 16 places, and of
bodies beyond 1 MiB one is taken in at a time; the others are not read meanwhile: TCP makes
their senders wait. Lesser bodies need no place, so that senders that stall after their first
bytes, however many, keep nobody out.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from monitor.errors import MonitorError

_SMALL = 64 * 1024
"""What the server buffers of a connection whether or not it is read."""
_LARGE = 2**20
_MIDDLING_AT_A_TIME = 16
_LARGE_WAITING = 8
_STEP = 256 * 1024
_GZIP = 31  # zlib's window bits for a gzip header and trailer
_DRAIN_BYTES = 64 * 2**20


class BodyRefused(MonitorError):
    """The body of a request cannot be taken."""

    exit_code = 2

    def __init__(self, status: int, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class BodyReader:
    """Reads bodies of at most `max_body` bytes, counted after decompression."""

    def __init__(self, *, max_body: int = 16 * 2**20, read_seconds: float = 30.0) -> None:
        self._max_body = max_body
        self._read_seconds = read_seconds
        self._middling = asyncio.Semaphore(_MIDDLING_AT_A_TIME)
        self._large = asyncio.Semaphore(1)
        self._waiting = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytearray]:
        """The body; its place among those taken in is held until the block is left.

        Raises `BodyRefused` with 400 (truncated or corrupt gzip, sender gone), 408 (too
        slow), 413 (too large), 415 (an encoding other than gzip) or 503 (too many bodies
        at once).
        """
        async with AsyncExitStack() as place:
            try:
                async with asyncio.timeout(self._read_seconds):
                    body = await self._collected(request, place)
            except TimeoutError:
                raise BodyRefused(
                    408,
                    f"the body did not arrive within {self._read_seconds:g} s; send it again",
                ) from None
            except ClientDisconnect:
                raise BodyRefused(400, "the sender hung up before the end of the body") from None
            except BodyRefused as refused:
                if refused.status == 413:
                    await place.aclose()
                    await _drain(request)
                raise
            yield body

    async def _collected(self, request: Request, place: AsyncExitStack) -> bytearray:
        body = bytearray()
        async for piece in self._pieces(request):
            before, after = len(body), len(body) + len(piece)
            if after > self._max_body:
                raise self._too_large()
            if before <= _LARGE < after:
                await self._wait_for_large(place)
            elif before <= _SMALL < after:
                await self._wait_for(self._middling, place)
            body += piece
        return body

    async def _wait_for_large(self, place: AsyncExitStack) -> None:
        if self._waiting >= _LARGE_WAITING:
            raise _busy()
        self._waiting += 1
        try:
            # The place among the lesser ones is given back first, or waiting large bodies
            # would take half of them.
            await place.pop_all().aclose()
            await self._wait_for(self._large, place)
        finally:
            self._waiting -= 1

    async def _wait_for(self, places: asyncio.Semaphore, place: AsyncExitStack) -> None:
        try:
            async with asyncio.timeout(self._read_seconds / 2):
                await place.enter_async_context(places)
        except TimeoutError:
            # Before the sender's own time is up: it is not the sender who is slow.
            raise _busy() from None

    async def _pieces(self, request: Request) -> AsyncIterator[bytes]:
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding in ("", "identity"):
            if int(_digits(request.headers.get("content-length"))) > self._max_body:
                raise self._too_large()
            async for chunk in request.stream():
                yield chunk
        elif encoding in ("gzip", "x-gzip"):
            async for piece in self._inflated(request):
                yield piece
        else:
            raise BodyRefused(
                415, f"the content encoding is {encoding[:40]!r}; send gzip or none at all"
            )

    async def _inflated(self, request: Request) -> AsyncIterator[bytes]:
        inflater, received, begun = zlib.decompressobj(_GZIP), 0, False
        async for chunk in request.stream():
            received += len(chunk)
            # Nothing compresses to more than itself and a little: this stops endless
            # streams of empty gzip members.
            if received > self._max_body + _LARGE:
                raise self._too_large()
            rest, full = chunk, False
            while rest or full:
                if inflater.eof:
                    inflater = zlib.decompressobj(_GZIP)
                begun = True
                try:
                    piece = inflater.decompress(rest, _STEP)
                except zlib.error:
                    raise BodyRefused(400, "the body is no valid gzip; send it again") from None
                yield piece
                rest = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
                # A full piece may leave output inside zlib when its input is used up.
                full = len(piece) == _STEP and not inflater.eof
                await asyncio.sleep(0)
        if begun and not inflater.eof:
            raise BodyRefused(400, "the gzip body is cut off; send it again")

    def _too_large(self) -> BodyRefused:
        return BodyRefused(
            413,
            f"the body has more than {self._max_body} bytes (http.max_body, counted after "
            "decompression); send smaller batches",
        )


def _busy() -> BodyRefused:
    return BodyRefused(503, "too many large bodies at once; send it again", retry_after=2.0)


def _digits(header: str | None) -> str:
    return header if header is not None and header.isascii() and header.isdigit() else "0"


async def _drain(request: Request) -> None:
    """Take the rest of a refused body and drop it.

    Many clients read the answer only after they have sent everything; closing on them
    earlier would show as a broken connection instead of a 413.
    """
    left = _DRAIN_BYTES
    try:
        async with asyncio.timeout(5.0):
            async for chunk in request.stream():
                left -= len(chunk)
                if left < 0:
                    return
    except (TimeoutError, ClientDisconnect, RuntimeError):
        return
