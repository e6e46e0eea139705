"""A bounded buffer, the thread that empties it, and what became of the records."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

from .wire import DEFAULT_URL, Answer, Connection

log = logging.getLogger("hss_monitor.client")

BATCH_RECORDS = 100
"""Records of one request."""
BATCH_CHARACTERS = 512 * 1024
"""The sidecar takes bodies beyond 1 MiB in one at a time."""
_FIRST_PAUSE, _LONGEST_PAUSE, _PAUSE_IN_A_HURRY = 0.5, 30.0, 0.1
"""Seconds after a failure."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What became of the records; their sum is the number of calls of `send`."""

    waiting: int = 0
    """In the buffer, or on their way."""
    sent: int = 0
    """Taken by the sidecar."""
    dropped: int = 0
    """Pushed out of a full buffer, sent after `close`, or left over by it."""
    rejected: int = 0
    """Refused by the sidecar, or not to be written as JSON."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A record in the buffer."""

    fields: Mapping[str, Any]
    characters: int
    """About as many as it takes in memory."""


class Client:
    """For services with threads; safe to share between them.

    At most `most_records` records of `most_characters` characters wait; a batch goes out when 100
    do, or `linger_seconds` after the first. `token` is the sidecar's `access.ingest_token`, or a
    function that reads it anew for every batch. Raises `ValueError` for a URL that is not
    http(s), and nothing after that.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        service: str | None = None,
        model: str | None = None,
        token: str | Callable[[], str] | None = None,
        most_records: int = 1_000,
        most_characters: int = 32 * 2**20,
        linger_seconds: float = 0.5,
        timeout_seconds: float = 5.0,
    ) -> None:
        self._connection = Connection(url, token=token, timeout=timeout_seconds)
        self._defaults = {"service": service, "model": model}
        self._most_records = most_records
        self._most_characters = most_characters
        self._linger = linger_seconds
        self._buffer: deque[_Entry] = deque()
        self._under_way: Sequence[_Entry] = ()
        self._thread: threading.Thread | None = None
        self._start()
        if hasattr(os, "register_at_fork"):
            alive = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _start(alive()))

    def send(self, document: str, summary: str, **fields: Any) -> bool:
        """Hand a summary over; False where it could not be kept.

        `fields` are those of `POST /v1/records`: service, model, id, category, release, trace_id,
        span_id, tracestate, started_at, request, alternatives. Do not change `request` afterwards.
        A service that the sidecar replays to hands over the `tracestate` header of the request, by
        which its own replays are passed over.
        """
        try:
            record = {**self._defaults, **fields, "document": document, "summary": summary}
            if not record.get("id") and not (record.get("trace_id") and record.get("span_id")):
                record["id"] = str(uuid4())  # so that a batch that is sent twice counts once
            copies = 2 if record.get("request") else 1  # a request repeats the document
            return self._keep(_Entry(record, copies * len(document) + len(summary) + 512))
        except Exception:  # a service must not fail because of its monitoring
            with self._changed:
                self._counted["rejected"] += 1
            return False

    @property
    def counts(self) -> Counts:
        """What became of all records so far."""
        with self._changed:
            return Counts(waiting=len(self._buffer) + len(self._under_way), **self._counted)

    def flush(self, seconds: float = 5.0) -> bool:
        """Wait, at most so long, until everything is sent; whether it was."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            while self._buffer or self._under_way:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    break
            self._hurry = False
            return not (self._buffer or self._under_way)

    def close(self, seconds: float = 2.0) -> bool:
        """Flush, at most so long, and stop; what is left counts as dropped."""
        done = self.flush(seconds)
        with self._changed:
            self._closed = True
            self._counted["dropped"] += len(self._buffer) + len(self._under_way)
            self._buffer.clear()
            self._under_way = ()
            self._changed.notify_all()
        if done and self._thread is not None:
            self._thread.join(_PAUSE_IN_A_HURRY)  # it has nothing left to do but to hang up
        return done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        """Start empty; also in a forked child, which has neither the thread nor its locks."""
        self._changed = threading.Condition(threading.Lock())
        self._buffer = deque()
        self._characters = 0
        self._under_way = ()
        self._counted = {"sent": 0, "dropped": 0, "rejected": 0}
        self._thread = None
        self._hurry = self._closed = False
        self._connection.forget()

    def _keep(self, entry: _Entry) -> bool:
        with self._changed:
            if self._closed or entry.characters > self._most_characters:
                self._counted["dropped"] += 1
                return False
            if self._thread is None:
                # Not before: servers that fork their workers make the client before that.
                thread = threading.Thread(target=self._work, name="hss-client", daemon=True)
                thread.start()  # raises where the process has too many; the next record tries again
                self._thread = thread
            self._buffer.append(entry)
            self._characters += entry.characters
            self._trim()
            if len(self._buffer) in (1, BATCH_RECORDS):
                self._changed.notify_all()
            return True

    def _trim(self) -> None:
        """Drop the oldest that are too many; a batch under way is not counted here."""
        while len(self._buffer) > self._most_records or self._characters > self._most_characters:
            self._characters -= self._buffer.popleft().characters
            self._counted["dropped"] += 1

    def _work(self) -> None:
        pause, most = 0.0, BATCH_RECORDS
        while batch := self._next(most, pause):
            answer = self._connection.post([entry.fields for entry in batch])
            self._tell(answer, failing=pause > 0)
            if answer.passing:
                pause = min(max(_FIRST_PAUSE, 2 * pause, answer.retry_after), _LONGEST_PAUSE)
                self._put_back(batch)
            elif answer.status == 413 and len(batch) > 1:
                most = len(batch) // 2
                self._put_back(batch)
            else:
                pause, most = 0.0, BATCH_RECORDS
                self._settle(batch, answer)
        self._connection.close()

    def _next(self, most: int, pause: float) -> Sequence[_Entry]:
        """The next batch, after the pause; empty when the client was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._hurry or self._closed, timeout=pause)
            if self._hurry and pause:
                self._changed.wait_for(lambda: self._closed, timeout=_PAUSE_IN_A_HURRY)
            self._changed.wait_for(lambda: bool(self._buffer) or self._closed)
            self._changed.wait_for(
                lambda: len(self._buffer) >= most or self._hurry or self._closed,
                timeout=self._linger,
            )
            batch: list[_Entry] = []
            room = BATCH_CHARACTERS
            while self._buffer and len(batch) < most:
                room -= self._buffer[0].characters
                if batch and room < 0:
                    break
                batch.append(self._buffer.popleft())
                self._characters -= batch[-1].characters
            self._under_way = batch
            return batch

    def _put_back(self, batch: Sequence[_Entry]) -> None:
        with self._changed:
            if not self._closed:  # `close` has counted them as dropped
                self._under_way = ()
                self._buffer.extendleft(reversed(batch))
                self._characters += sum(entry.characters for entry in batch)
                self._trim()

    def _settle(self, batch: Sequence[_Entry], answer: Answer) -> None:
        with self._changed:
            if not self._closed:
                self._under_way = ()
                rejected = min(len(batch), answer.rejected) if answer.taken else len(batch)
                self._counted["sent"] += len(batch) - rejected
                self._counted["rejected"] += rejected
                self._changed.notify_all()

    def _tell(self, answer: Answer, *, failing: bool) -> None:
        where = self._connection.address
        if answer.passing and not failing:
            log.warning("%s takes no records now (%s); the oldest may be lost", where, answer.why)
        elif answer.taken and failing:
            log.warning("%s takes records again", where)
        elif not answer.passing and not answer.taken:
            log.warning("%s refused a batch (%s)", where, answer.why)


def _start(client: Client | None) -> None:
    if client is not None:
        client._start()


class AsyncClient:
    """For services on an event loop. `send` is a plain call: there is nothing to wait for.

    Encoding and compressing a batch takes milliseconds in which a loop would answer nobody, so
    a thread does it here, too.
    """

    def __init__(self, url: str = DEFAULT_URL, **options: Any) -> None:
        """The options are those of `Client`."""
        self._client = Client(url, **options)
        self.send = self._client.send

    @property
    def counts(self) -> Counts:
        """What became of all records so far."""
        return self._client.counts

    async def flush(self, seconds: float = 5.0) -> bool:
        """Wait, at most so long, until everything is sent; whether it was."""
        return await asyncio.to_thread(self._client.flush, seconds)

    async def close(self, seconds: float = 2.0) -> bool:
        """Flush, at most so long, and stop; what is left counts as dropped."""
        return await asyncio.to_thread(self._client.close, seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
