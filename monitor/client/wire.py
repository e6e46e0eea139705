"""Batches as gzipped NDJSON over one connection."""

from __future__ import annotations

import http.client
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:8318"
_SLICE = 32 * 1024
"""Characters encoded at a time: a thread that encodes holds up all others of its process."""
_REFUSED = frozenset({400, 413, 415, 422})
"""Statuses that sending the same again cannot change."""
_MOST_ANSWER = 2**20
"""Bytes of an answer that are read: what answers at a wrong address may never end."""
_GZIP = 31  # zlib's window bits for a gzip header and trailer


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the sidecar said to a batch."""

    status: int | None
    """None: there was no answer."""
    why: str
    """The status or the kind of failure, for people; never a text."""
    rejected: int = 0
    """Records that are wrong, of those that were sent."""
    retry_after: float = 0.0
    """Seconds for which the sidecar asks to be left alone."""

    @property
    def taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def passing(self) -> bool:
        """Whether the same records may be taken later."""
        return not self.taken and self.status not in _REFUSED


class Connection:
    """Posts batches over one connection that is kept open; used by one thread."""

    def __init__(self, url: str, *, token: str | Callable[[], str] | None, timeout: float) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:  # of its brackets, or a port above 65535
            host = None
        if host is None or parts.scheme not in ("http", "https"):
            raise ValueError(f"url: {url!r} is no http(s) URL; give one such as {DEFAULT_URL}")
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._open: Callable[[], http.client.HTTPConnection] = lambda: kind(
            host, port, timeout=timeout
        )
        self._path = parts.path.rstrip("/") + "/v1/records"
        self._token = token
        self._kept: http.client.HTTPConnection | None = None
        self.address = f"{parts.scheme}://{host}" + (f":{port}" if port else "")

    def forget(self) -> None:
        """Leave an open connection to the process that opened it."""
        self._kept = None

    def post(self, records: Sequence[Mapping[str, Any]]) -> Answer:
        """Send them; never raises."""
        body, unwritable = ndjson(records)
        reused = self._kept is not None
        try:
            try:
                return self._answer(body, unwritable)
            except (ConnectionError, http.client.BadStatusLine):
                self.close()
                if not reused:
                    raise
                # The other side may just have closed a connection that was idle.
                return self._answer(body, unwritable)
        except Exception as error:  # a timeout, a token that cannot be read, a strange answer
            self.close()
            return Answer(status=None, why=type(error).__name__)

    def _answer(self, body: bytes, unwritable: int) -> Answer:
        if self._kept is None:
            self._kept = self._open()
        headers = {"content-type": "application/x-ndjson", "content-encoding": "gzip"}
        token = self._token() if callable(self._token) else self._token
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._kept.request("POST", self._path, body=body, headers=headers)
        response = self._kept.getresponse()
        told = response.read(_MOST_ANSWER)
        if response.will_close or not response.isclosed():
            self.close()
        rejected = unwritable
        if 200 <= response.status < 300:
            rejected += len(json.loads(told).get("rejected", ()))
        wait = response.headers.get("retry-after", "")
        return Answer(
            status=response.status,
            why=f"HTTP {response.status}",
            rejected=rejected,
            retry_after=float(wait) if wait.isdecimal() else 0.0,
        )

    def close(self) -> None:
        """Hang up; the next batch opens a connection again."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None


def ndjson(records: Sequence[Mapping[str, Any]]) -> tuple[bytes, int]:
    """The records as gzipped NDJSON, and how many could not be written."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    packed, unwritable = [], 0
    for record in records:
        try:
            pieces = list(_line(record))
        except Exception:  # whatever a service puts into `request`
            unwritable += 1
            continue
        # Compressing releases the interpreter lock: whoever waits for it gets a turn here.
        packed += [packer.compress(piece) for piece in pieces]
    return b"".join([*packed, packer.flush()]), unwritable


def _line(fields: Mapping[str, Any]) -> Iterator[bytes]:
    before = b"{"
    for name, value in fields.items():
        if value is None:
            continue
        yield before + json.dumps(name).encode() + b":"
        before = b","
        if isinstance(value, str):
            yield b'"'
            yield from (_escaped(value[at : at + _SLICE]) for at in range(0, len(value), _SLICE))
            yield b'"'
        elif isinstance(value, datetime):
            yield json.dumps(value.isoformat()).encode()
        else:
            yield json.dumps(value).encode()
    yield b"}\n"


def _escaped(text: str) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=False)[1:-1].encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(text)[1:-1].encode()
