"""Where the time of one record goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Wall time by stage, and CPU time of the whole process since it was made."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._cpu = time.process_time()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = time.perf_counter() - start

    def core_seconds(self) -> float:
        return time.process_time() - self._cpu
