"""Bodies are read within limits of time and number, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import Request

from monitor.ingest.body import BodyReader, BodyRefused

MIB = 2**20


def _request(receive: Callable[[], Awaitable[dict[str, Any]]]) -> Request:
    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    return Request(scope, receive)


def _of_size(size: int) -> Request:
    chunks = [bytes(MIB // 2)] * (2 * size // MIB)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": chunks.pop(), "more_body": bool(chunks)}

    return _request(receive)


async def _hold(reader: BodyReader, request: Request, leave: asyncio.Event) -> int:
    async with reader.read(request) as body:
        size = len(body)
        await leave.wait()
    return size


async def _settled() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_one_large_body_is_taken_in_at_a_time() -> None:
    """Two of the greatest size together would exceed the memory that is promised."""

    async def scenario() -> tuple[int, bool, bool, int]:
        reader, leave = BodyReader(), asyncio.Event()
        first = asyncio.create_task(_hold(reader, _of_size(4 * MIB), leave))
        await _settled()
        second = asyncio.create_task(_hold(reader, _of_size(4 * MIB), leave))
        await _settled()
        done: asyncio.Event = asyncio.Event()
        done.set()
        small = await _hold(reader, _of_size(MIB), done)
        waiting = not first.done() and not second.done()
        leave.set()
        return small, waiting, await first == 4 * MIB, await second

    assert asyncio.run(scenario()) == (MIB, True, True, 4 * MIB)


def test_too_many_large_bodies_are_sent_away() -> None:
    """Each that waits holds 1 MiB; senders come back after a moment."""

    async def scenario() -> BodyRefused:
        reader, leave = BodyReader(), asyncio.Event()
        tasks = [asyncio.create_task(_hold(reader, _of_size(2 * MIB), leave)) for _ in range(9)]
        await _settled()
        with pytest.raises(BodyRefused) as refused:
            await _hold(reader, _of_size(2 * MIB), leave)
        leave.set()
        assert await asyncio.gather(*tasks) == [2 * MIB] * 9
        return refused.value

    refused = asyncio.run(scenario())
    assert (refused.status, refused.retry_after) == (503, 2.0)


def test_waiting_for_a_large_body_is_not_the_senders_fault() -> None:
    """503 is tried again by exporters, 408 is not."""

    async def scenario() -> int:
        reader, leave = BodyReader(read_seconds=0.1), asyncio.Event()
        first = asyncio.create_task(_hold(reader, _of_size(2 * MIB), leave))
        await _settled()
        with pytest.raises(BodyRefused) as refused:
            await _hold(reader, _of_size(2 * MIB), leave)
        leave.set()
        await first
        return refused.value.status

    assert asyncio.run(scenario()) == 503


def test_a_sender_that_stalls_loses_its_place() -> None:
    """It would keep others out for as long as it likes."""

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        raise AssertionError

    async def scenario() -> int:
        reader = BodyReader(read_seconds=0.01)
        for _ in range(20):  # more than there are places
            with pytest.raises(BodyRefused) as refused:
                async with reader.read(_request(receive)):
                    pass
        return refused.value.status

    assert asyncio.run(scenario()) == 408


def test_stalled_senders_keep_no_small_body_out() -> None:
    """Sixteen hung clients would stop the intake of a whole fleet for half a minute."""

    async def scenario() -> int:
        reader, done = BodyReader(), asyncio.Event()
        done.set()

        def stalling() -> Request:
            begun = [{"type": "http.request", "body": b"{", "more_body": True}]

            async def receive() -> dict[str, Any]:
                if not begun:
                    await asyncio.Event().wait()
                return begun.pop()

            return _request(receive)

        stalled = [asyncio.create_task(_hold(reader, stalling(), done)) for _ in range(100)]
        await _settled()
        messages = [{"type": "http.request", "body": bytes(1000)}]

        async def receive() -> dict[str, Any]:
            return messages.pop()

        async with asyncio.timeout(5):
            size = await _hold(reader, _request(receive), done)
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)
        return size

    assert asyncio.run(scenario()) == 1000


def test_middling_bodies_wait_for_each_other() -> None:
    """Sixteen of up to 1 MiB are what memory is promised for; 503 is not the senders' fault."""

    async def scenario() -> tuple[int, int]:
        reader, leave = BodyReader(read_seconds=0.1), asyncio.Event()
        held = [asyncio.create_task(_hold(reader, _of_size(MIB), leave)) for _ in range(16)]
        await _settled()
        with pytest.raises(BodyRefused) as refused:
            await _hold(reader, _of_size(MIB), leave)
        leave.set()
        sizes = await asyncio.gather(*held)
        return refused.value.status, sum(sizes)

    assert asyncio.run(scenario()) == (503, 16 * MIB)


def test_a_sender_that_hangs_up_is_no_crash() -> None:
    """Half a body is not taken."""
    messages = [
        {"type": "http.request", "body": b"half", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def scenario() -> int:
        with pytest.raises(BodyRefused) as refused:
            async with BodyReader().read(_request(receive)):
                pass
        return refused.value.status

    assert asyncio.run(scenario()) == 400
