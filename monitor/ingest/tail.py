"""Following a log through rotation, truncation and restarts.

After a rotation by rename (also several, also while nobody was reading) the rest of the old file
is read before the new one. Copy-and-truncate loses what is written between the copy and the
truncation, with any reader; a file that was compressed or deleted before it was read to its end is
lost. Where that is seen it is logged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import structlog

from monitor.ingest.log_file import Line, LogFile, Position

log = structlog.get_logger(__name__)

_COMPRESSED = frozenset({".gz", ".bz2", ".xz", ".zst", ".lz4"})


class Tail:
    """Hands out the lines of the log at `path`, each once, from `position` on.

    `read` never waits. A renamed file counts as finished when nothing was added to it for `grace`
    seconds, as writers go on into it until they open the new one. Used by one thread.
    """

    def __init__(
        self,
        path: Path,
        position: Position | None = None,
        *,
        grace: float = 5.0,
        most_bytes: int = 16 * 2**20,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._position = position
        self._grace = grace
        self._most_bytes = most_bytes
        self._monotonic = monotonic
        self._file: LogFile | None = None
        self._grown = monotonic()

    @property
    def position(self) -> Position | None:
        """Behind the last line that was handed out; `None` before the first file was found."""
        return self._file.position if self._file is not None else self._position

    def read(self, most: int) -> list[Line]:
        """Up to so many more lines; fewer where no more have been written."""
        lines: list[Line] = []
        while len(lines) < most and (file := self._file or self._opened()) is not None:
            if (line := file.next()) is not None:
                lines.append(line)
                self._grown = self._monotonic()
            elif not self._goes_on(file, lines):
                break
        return lines

    def close(self) -> None:
        """Close the file; `position` stays, and `read` opens it again."""
        self._position = self.position
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> LogFile | None:
        """The file of the position, or the log as it is now."""
        if self._position is not None:
            for path, _ in _rotation(self._path):
                if self._use(path, self._position):
                    return self._file
            if not self._path.exists():
                return None
            log.warning("log_lost", path=str(self._path), offset=self._position.offset)
        return self._file if self._use(self._path, None) else None

    def _use(self, path: Path, wanted: Position | None) -> bool:
        file = LogFile.open(path, wanted, most_bytes=self._most_bytes)
        if file is None:
            return False
        self.close()
        self._file = file
        self._grown = self._monotonic()
        return True

    def _goes_on(self, file: LogFile, lines: list[Line]) -> bool:
        """At the end of what is written: read on after a truncation, or in the next file."""
        if file.is_truncated():
            log.warning("log_truncated", path=str(self._path))
            file.restart()
            return True
        rotation = _rotation(self._path)
        files = [identity for _, identity in rotation]
        if not rotation or rotation[-1][0] != self._path or files[-1] == file.position.file:
            return False
        # A file that is not among them was deleted: the oldest that is left comes after it.
        known = files.index(file.position.file) if file.position.file in files else -1
        following = rotation[known + 1 :]
        if len(following) == 1 and self._monotonic() - self._grown < self._grace:
            return False
        # It may have grown between its end and the look at the folder.
        if (line := file.next()) is not None:
            lines.append(line)
            return True
        if (line := file.unfinished()) is not None:
            lines.append(line)
        path, (device, inode) = following[0]
        # By its identity, as it may be renamed before it is opened.
        return self._use(path, Position(device=device, inode=inode, start="", offset=0))


_Rotation = list[tuple[Path, tuple[int, int]]]


def _rotation(path: Path) -> _Rotation:
    """The log and what it was before, oldest first: path, and (device, inode)."""
    before, found = None, _scan(path)
    while found != before:  # a folder that is read while files in it are renamed has gaps
        before, found = found, _scan(path)
    return found


def _scan(path: Path) -> _Rotation:
    found = []
    for other in path.parent.iterdir():
        ending = other.name.removeprefix(path.name)
        mine = other == path or (ending != other.name and ending[:1] in (".", "-", "_"))
        if not mine or other.suffix in _COMPRESSED:
            continue
        try:
            status = other.stat()
        except OSError:  # renamed just now; it is found at the next turn
            continue
        # Of two that were written to within one tick of the clock the higher number is older.
        number = int(ending[1:]) if ending[1:].isdecimal() else 0
        age = (other == path, status.st_mtime_ns, -number)
        found.append((age, other, (status.st_dev, status.st_ino)))
    return [(other, file) for _, other, file in sorted(found)]
