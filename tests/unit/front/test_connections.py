"""How long a connection is waited for, on a clock that tests set: no machine is too slow for it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from monitor.listening import KEEP_ALIVE_SECONDS, BoundedConnection

REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
ANSWER = b"x" * 100


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers at once."""
    headers = [(b"content-length", str(len(ANSWER)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


@dataclass
class Timer:
    at: float
    call: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Loop:
    """As much of an event loop as a connection needs; `wait` lets time go by."""

    now: float = 0.0
    timers: list[Timer] = field(default_factory=list)
    tasks: list[Coroutine[Any, Any, None]] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now + seconds, call))
        return self.timers[-1]

    def create_task(self, task: Coroutine[Any, Any, None], **_: Any) -> Future[None]:
        self.tasks.append(task)
        return Future()

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while due := [each for each in self.timers if not each.cancelled and each.at <= until]:
            timer = min(due, key=lambda each: each.at)
            self.timers.remove(timer)
            self.now = timer.at
            timer.call()
        self.now = until


class Transport:
    """A socket whose other side takes nothing while it is `deaf`."""

    def __init__(self) -> None:
        self.connection: BoundedConnection | None = None
        self.deaf = False
        self.kept = b""
        self.closing = False
        self.aborted = False

    def write(self, data: bytes) -> None:
        if self.deaf:
            self.kept += data
            assert self.connection is not None
            self.connection.pause_writing()

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = self.aborted = True

    def get_extra_info(self, _: str) -> None:
        return None

    def pause_reading(self) -> None:
        """Nothing is read here that was not handed in."""

    def resume_reading(self) -> None:
        """See `pause_reading`."""


class Front:
    """Connections of one server."""

    def __init__(self) -> None:
        self.loop = Loop()
        self._config = uvicorn.Config(
            application,
            log_config=None,
            lifespan="off",
            ws="none",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        self._state = ServerState()

    def connected(self, *, deaf: bool = False) -> BoundedConnection:
        connection = BoundedConnection(
            self._config,
            self._state,
            {},
            self.loop,  # type: ignore[arg-type]
        )
        transport = Transport()
        transport.connection, transport.deaf = connection, deaf
        connection.connection_made(transport)  # type: ignore[arg-type]
        return connection

    def sent(self, connection: BoundedConnection, data: bytes) -> None:
        connection.data_received(data)
        while self.loop.tasks:
            with pytest.raises(StopIteration):
                self.loop.tasks.pop().send(None)

    def aborted(self, connection: BoundedConnection) -> bool:
        return bool(connection.transport.aborted)  # type: ignore[attr-defined]


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Front:
    monkeypatch.setattr(BoundedConnection, "most", 4)
    return Front()


@pytest.mark.parametrize("pause", [5.0, 10.0, 60.0])
def test_senders_may_pause_between_requests(front: Front, pause: float) -> None:
    """Exporters send every 5 s: closed at that moment, their request would be lost."""
    sender = front.connected()
    for _ in range(3):
        front.sent(sender, REQUEST)
        front.loop.wait(pause)
        assert not sender.transport.is_closing()


def test_a_kept_connection_is_closed_in_the_end_and_a_slow_head_on_it_sooner(
    front: Front,
) -> None:
    """A pause ends with the first byte of the next request."""
    idle, slow = front.connected(), front.connected()
    front.sent(idle, REQUEST)
    front.sent(slow, REQUEST)
    front.loop.wait(60.0)
    front.sent(slow, REQUEST[:10])
    front.loop.wait(10.5)
    assert (idle.transport.is_closing(), front.aborted(slow)) == (False, True)
    front.loop.wait(5.0)
    assert idle.transport.is_closing()


def test_single_bytes_gain_no_time(front: Front) -> None:
    """A head has its time as a whole."""
    slow = front.connected()
    for place in range(10):
        assert not front.aborted(slow)
        front.sent(slow, REQUEST[place : place + 1])
        front.loop.wait(BoundedConnection.head_seconds / 10)
    assert front.aborted(slow)


def test_requests_one_after_the_other_have_their_time_each(front: Front) -> None:
    """The connection of a busy sender lives longer than any single request may."""
    busy = front.connected()
    for _ in range(5):
        front.loop.wait(BoundedConnection.head_seconds * 0.4)
        front.sent(busy, REQUEST)
    assert not front.aborted(busy)


@pytest.mark.parametrize("request_", [REQUEST, LAST], ids=["kept", "closed"])
def test_an_answer_that_nobody_takes_is_dropped(front: Front, request_: bytes) -> None:
    """Also the last one of a connection: closing waits until it is taken."""
    deaf = front.connected(deaf=True)
    front.sent(deaf, request_)
    front.loop.wait(BoundedConnection.answer_seconds * 0.9)
    assert not front.aborted(deaf)
    front.loop.wait(BoundedConnection.answer_seconds * 0.2)
    assert front.aborted(deaf)


def test_the_ones_that_wait_longest_make_room(front: Front) -> None:
    """So that those who send nothing keep nobody out; of many that come at once each gets the
    place of another one."""
    silent = []
    for _ in range(4):
        silent.append(front.connected())
        front.loop.wait(1)
    late = [front.connected() for _ in range(3)]
    assert [front.aborted(each) for each in silent] == [True, True, True, False]
    assert not any(front.aborted(each) for each in late)
