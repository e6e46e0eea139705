"""A value that is asked for often and may be some seconds old."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """`read`, asked at most once in so many seconds; may be called from many threads.

    Where `read` raises, so does the call, and the next one asks again.
    """

    def __init__(
        self,
        read: Callable[[], T],
        *,
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._seconds = seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._held: tuple[float, T] | None = None

    def __call__(self) -> T:
        with self._lock:
            if self._held is None or self._monotonic() - self._held[0] >= self._seconds:
                value = self._read()
                self._held = (self._monotonic(), value)
            return self._held[1]
