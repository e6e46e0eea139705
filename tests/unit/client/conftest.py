"""A stand-in for the sidecar that can be away, hang, refuse or be slow."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Stand:
    """Remembers the records and headers of each request, and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[list[dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.statuses: list[int] = []
        """Statuses of the next answers; 200 when they are used up."""
        self.rejecting: Callable[[dict[str, Any]], bool] = lambda record: False
        self.hanging = threading.Event()
        """While set, no request is answered."""
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def records(self) -> list[dict[str, Any]]:
        """Of all requests that were taken."""
        return [record for request in self.requests for record in request]

    def start(self) -> None:
        """Listen; a second time on the same port."""
        stand = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                while stand.hanging.is_set():
                    time.sleep(0.01)
                status = stand.statuses.pop(0) if stand.statuses else 200
                told: dict[str, Any] = {}
                if status == 200:
                    lines = gzip.decompress(body).decode().splitlines()
                    records = [json.loads(line) for line in lines]
                    stand.requests.append(records)
                    stand.headers.append({k.lower(): v for k, v in self.headers.items()})
                    wrong = [{"index": i} for i, r in enumerate(records) if stand.rejecting(r)]
                    told = {"accepted": len(records) - len(wrong), "rejected": wrong}
                answer = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@pytest.fixture
def stand() -> Iterator[Stand]:
    it = Stand()
    it.start()
    yield it
    it.hanging.clear()
    it.stop()
