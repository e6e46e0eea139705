"""The front's one socket, and how long it waits for those that connect to it.

uvicorn waits for ever for a request of which only a part of the head came, and takes in any
number of connections: a few hundred that send nothing would use up the process's files, and with
them the database's. Bodies of ingest have limits of their own, see `ingest.body`.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from monitor.errors import DependencyUnavailable
from monitor.settings import Settings

KEEP_ALIVE_SECONDS: Final = 75
"""How long a connection is kept for a further request: longer than senders pause.

One that is closed just as a request comes loses it. Exporters of OpenTelemetry send every 5 s,
which is uvicorn's default; scrapers every 15 to 60 s.
"""


def listening(settings: Settings) -> socket.socket:
    """The listening socket, made before anything else starts: a taken port is found at once."""
    family = socket.AF_INET6 if ":" in settings.http.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.http.host, settings.http.port))
        # Bound alone, a second front that starts now could still bind the same port.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise DependencyUnavailable(
            f"http.port: {settings.http.host}:{settings.http.port} cannot be listened on "
            f"({error.strerror}); stop what uses it, or set another http.port or http.host"
        ) from None
    return listener


class BoundedConnection(H11Protocol):
    """An HTTP connection that is closed when its request does not come, or its answer is not
    taken, in time.

    Of more connections than `most` the one goes that has waited longest without a request; where
    all are at work, the newest: senders try again.
    """

    head_seconds = 10.0
    """From connecting, or from the first byte of a further request, to the end of its head."""
    body_seconds = 60.0
    """From then to the end of its body, also for routes that do not read one."""
    answer_seconds = 60.0
    """For what the answer has more than fits into the buffers; again for the rest of a last one."""
    most = 512

    _answered = False
    _phase: str | None = None
    _timer: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter(None, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        self._answered = True
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._enter("answer", self.answer_seconds)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._enter(None, None)
        self._watch()

    def _watch(self) -> None:
        state = self.conn.their_state
        if self._phase == "answer":
            return
        # Closing waits for a buffer that the other side may never empty.
        if self.transport.is_closing():
            self._enter("answer", self.answer_seconds)
        elif state is h11.IDLE and self._answered and not self.conn.trailing_data[0]:
            # uvicorn closes it after `KEEP_ALIVE_SECONDS`.
            self._enter("kept", None)
        elif state is h11.IDLE:
            self._enter("head", self.head_seconds)
        elif state is h11.SEND_BODY:
            self._enter("body", self.body_seconds)
        else:
            self._enter(None, None)

    def _enter(self, phase: str | None, seconds: float | None) -> None:
        """Give a phase its time; more of the same phase gets no more."""
        if phase == self._phase:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._phase, self._timer, self._since = phase, None, self.loop.time()
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        # It ends in the next turn of the loop; until then it is nobody's place to take.
        self._enter(None, None)
        # Not `close`: it would wait for a buffer that the other side does not empty.
        self.transport.abort()

    def _make_room(self) -> None:
        waiting = [
            each
            for each in self.connections
            if isinstance(each, BoundedConnection)
            and each is not self
            and each._phase in {"head", "kept"}
        ]
        min(waiting, key=lambda each: each._since, default=self)._give_up()
