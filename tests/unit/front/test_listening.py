"""Connections that send nothing, half a request, or take no answer: none is waited for for ever."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from monitor.listening import BoundedConnection

HALF = b"GET / HTTP/1.1\r\nhost: x\r\n"
WHOLE = HALF + b"\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n"


class Impatient(BoundedConnection):
    head_seconds = 0.4
    body_seconds = 0.4
    answer_seconds = 0.4
    most = 4


async def application(scope, receive, send) -> None:
    """Reads the whole request, then answers `ok`, or with 20 MB under /much."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body", False):
        pass
    body = b"x" * 20_000_000 if scope["path"] == "/much" else b"ok"
    size = str(len(body)).encode()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", size)]}
    )
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """A server with little patience."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, http=Impatient, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listener.getsockname()
    server.should_exit = True
    thread.join()


def _connected(address: tuple[str, int], *sent: bytes) -> socket.socket:
    connection = socket.create_connection(address, timeout=5)
    for piece in sent:
        connection.sendall(piece)
    return connection


def _answered(connection: socket.socket) -> None:
    told = b""
    while not told.endswith(b"ok"):
        piece = connection.recv(65536)
        assert piece, "closed without an answer"
        told += piece


def _told(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    told = b""
    try:
        while piece := connection.recv(65536):
            told += piece
    except ConnectionResetError:
        pass
    connection.close()
    return told


@pytest.mark.parametrize("sent", [b"", HALF, POST + b"12345"], ids=["nothing", "head", "body"])
def test_half_a_request_is_not_waited_for(address, sent) -> None:
    """uvicorn alone would keep it for ever."""
    began = time.monotonic()
    assert _told(_connected(address, sent)) == b""
    assert 0.3 < time.monotonic() - began < 3


def test_single_bytes_gain_no_time(address) -> None:
    """A head has its time as a whole."""
    connection, began = _connected(address), time.monotonic()
    with pytest.raises(OSError):
        for place in range(100):
            connection.sendall(HALF[place % len(HALF) :][:1])
            time.sleep(0.05)
    assert time.monotonic() - began < 3
    connection.close()


def test_an_answer_that_nobody_takes_is_dropped(address) -> None:
    """Else its sender would hold the connection, and the answer, for as long as it likes."""
    connection = _connected(address, WHOLE.replace(b"GET /", b"GET /much"))
    time.sleep(1.5)
    assert len(_told(connection)) < 20_000_000


def test_requests_one_after_the_other_have_their_time_each(address) -> None:
    """The connection of a busy sender lives longer than any single request may."""
    connection, began = _connected(address), time.monotonic()
    for _ in range(5):
        connection.sendall(HALF)
        time.sleep(0.15)
        connection.sendall(b"\r\n")
        _answered(connection)
    assert time.monotonic() - began > Impatient.head_seconds
    connection.close()


def test_the_one_that_waits_longest_makes_room(address) -> None:
    """So that those who send nothing keep nobody out."""
    silent = [_connected(address, HALF) for _ in range(4)]
    began = time.monotonic()
    late = _connected(address, WHOLE)
    _answered(late)
    assert _told(silent[0]) == b""
    assert time.monotonic() - began < Impatient.head_seconds
    for connection in (late, *silent[1:]):
        connection.close()
