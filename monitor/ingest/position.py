"""Where a followed log was read up to, kept over restarts."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from monitor.errors import ConfigurationError
from monitor.ingest.log_file import Position


class PositionFile:
    """One position in a small file, which is replaced as a whole: after a crash it is the old one
    or the new one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Position | None:
        """The kept position; `None` where there is none. Raises `ConfigurationError`."""
        try:
            return Position(**json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise ConfigurationError(
                f"ingest.tail.position_file: {str(self._path)!r} cannot be read "
                f"({type(error).__name__}); delete it to read the log from its beginning"
            ) from None

    def save(self, position: Position) -> None:
        """Keep it; durable on return. Raises `ConfigurationError`."""
        draft = self._path.with_name(f"{self._path.name}.new")
        try:
            with draft.open("w", encoding="utf-8") as file:
                json.dump(asdict(position), file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        except OSError as error:
            raise ConfigurationError(
                f"ingest.tail.position_file: {str(self._path)!r} cannot be written "
                f"({error.strerror}); name a file in a folder that this user may write"
            ) from None
