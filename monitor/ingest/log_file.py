"""One log file: its lines, and up to where they were handed out."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import structlog

log = structlog.get_logger(__name__)

_CHUNK = 256 * 1024
_START = 4096
"""Bytes of a first line that tell a file from another one that gets its inode."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """Up to where a log was read; everything before it was handed out."""

    device: int
    inode: int
    start: str
    """Hash of the file's first line; empty before there is one."""
    offset: int
    """Bytes; always behind the end of a line."""

    @property
    def file(self) -> tuple[int, int]:
        return self.device, self.inode


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line without its end."""

    text: bytes
    identity: str
    """Hash of its file, its place and its text: the same whenever it is read."""


class LogFile:
    """An open file that is read from a position on; never waits.

    A file is known by its device, its inode and its first line: inodes are used again. Lines
    longer than `most_bytes` are passed over.
    """

    def __init__(self, path: Path, file: BinaryIO, position: Position, *, most_bytes: int) -> None:
        self._path = path
        self._file = file
        self._most_bytes = most_bytes
        self._held = b""
        """Read and not handed out: from `_at` on."""
        self._at = 0
        self._dropped = 0
        """Bytes already dropped of a line that is too long."""
        self._position = position
        self._file.seek(position.offset)

    @classmethod
    def open(cls, path: Path, wanted: Position | None, *, most_bytes: int) -> LogFile | None:
        """The file at its beginning, or at a position; `None` where it is not the one wanted."""
        try:
            file = path.open("rb", buffering=0)
        except OSError:
            return None
        status, start = os.fstat(file.fileno()), _start(file)
        here = Position(device=status.st_dev, inode=status.st_ino, start=start, offset=0)
        if wanted is not None and (
            here.file != wanted.file
            or status.st_size < wanted.offset
            or (wanted.start and start != wanted.start)
        ):
            file.close()
            return None
        return cls(path, file, wanted or here, most_bytes=most_bytes)

    @property
    def position(self) -> Position:
        """Behind the last line that was handed out."""
        return self._position

    def close(self) -> None:
        """What was read and not handed out is read again by whoever opens it at its position."""
        self._file.close()

    def next(self) -> Line | None:
        """The next complete line that is not blank; `None` at the end of what is written."""
        while True:
            end = self._held.find(b"\n", self._at)
            if end >= 0:
                text = self._held[self._at : end]
                self._at = end + 1
                if (line := self._line(text, len(text) + 1)) is not None:
                    return line
                continue
            self._held, self._at = self._held[self._at :], 0
            if len(self._held) > self._most_bytes:
                self._dropped += len(self._held)
                self._held = b""
            chunk = self._file.read(_CHUNK)
            if not chunk:
                return None
            self._held += chunk

    def unfinished(self) -> Line | None:
        """The last line of a file that nobody writes to any more, though nothing ended it."""
        rest, self._held, self._at = self._held[self._at :], b"", 0
        return self._line(rest, len(rest)) if rest else None

    def is_truncated(self) -> bool:
        """Whether the file has become shorter than what was read of it."""
        return os.fstat(self._file.fileno()).st_size < self._file.tell()

    def restart(self) -> None:
        """Read it from its beginning."""
        self._held, self._at, self._dropped = b"", 0, 0
        self._position = replace(self._position, start=_start(self._file), offset=0)
        self._file.seek(0)

    def _line(self, text: bytes, length: int) -> Line | None:
        """The line that ends here; `None` where it is blank or was too long."""
        start = self._position.start or _digest(text[:_START])
        before = replace(self._position, start=start)
        self._position = replace(before, offset=before.offset + self._dropped + length)
        too_long, self._dropped = self._dropped > 0, 0
        if too_long:
            log.warning("log_line_too_long", path=str(self._path), offset=before.offset)
        if too_long or not text.strip():
            return None
        place = f"{before.inode}:{before.start}:{before.offset}:".encode()
        return Line(text=text, identity=_digest(place + text))


def _start(file: BinaryIO) -> str:
    """Hash of a file's first line, as far as it counts; empty where it is not complete."""
    file.seek(0)
    head = file.read(_START)
    line, end, _ = head.partition(b"\n")
    return _digest(line) if end or len(head) == _START else ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
