"""Connections that send nothing, half a request, or take no answer: none is waited for for ever.

On real sockets; `test_connections` has the rules, on a clock of its own.
"""

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
MUCH = b"GET /much HTTP/1.1\r\nhost: x\r\n\r\n"
LAST = b"GET /much HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n"

PATIENCE = 30.0
"""Seconds for the busiest machine; a connection that is kept is kept for ever."""


class Impatient(BoundedConnection):
    head_seconds = 0.4
    body_seconds = 0.4
    answer_seconds = 0.4


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
def server() -> Iterator[uvicorn.Server]:
    """One with little patience."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, http=Impatient, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server
    server.should_exit = True
    thread.join()


def _connected(server: uvicorn.Server, sent: bytes) -> socket.socket:
    address = server.servers[0].sockets[0].getsockname()
    connection = socket.create_connection(address, timeout=PATIENCE)
    connection.sendall(sent)
    return connection


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
def test_half_a_request_is_not_waited_for(server, sent) -> None:
    """uvicorn alone would keep it for ever."""
    began = time.monotonic()
    assert _told(_connected(server, sent)) == b""
    assert 0.3 < time.monotonic() - began < PATIENCE


@pytest.mark.parametrize("sent", [MUCH, LAST], ids=["kept", "closed"])
def test_an_answer_that_nobody_takes_is_dropped(server, sent) -> None:
    """Else its sender would hold the connection, and the answer, for as long as it likes."""
    connection, until = _connected(server, sent), time.monotonic() + PATIENCE
    state = server.server_state
    while not state.total_requests or state.connections:
        assert time.monotonic() < until, "the connection is kept"
        time.sleep(0.05)
    assert len(_told(connection)) < 20_000_000
