"""An HTTP server of the test's own that other systems' endpoints are stood in by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, kw_only=True)
class Taken:
    """One request and how it was answered."""

    path: str
    headers: dict[str, str]
    body: bytes
    status: int


@dataclass(kw_only=True)
class Receiver:
    """What came in so far.

    `answer(number)` is the status of the n-th request, from 1 on; `reply(body)` what it is
    answered with.
    """

    url: str = ""
    answer: Callable[[int], int] = lambda number: 200
    reply: Callable[[bytes], bytes] = lambda body: b""
    requests: list[Taken] = field(default_factory=list)

    def taken(self) -> list[Taken]:
        """Requests that were answered with success."""
        return [request for request in self.requests if request.status == 200]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver that listens on a free port of this machine."""
    receiver = Receiver()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with lock:
                status = receiver.answer(len(receiver.requests) + 1)
                receiver.requests.append(
                    Taken(path=self.path, headers=headers, body=body, status=status)
                )
            reply = receiver.reply(body)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Nothing: standard error belongs to the test."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
