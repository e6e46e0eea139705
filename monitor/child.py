"""How a process that a front started learns that it has to end.

Its standard input is a pipe from the front: it ends when the front does, however that happens.
A Ctrl-C reaches the whole group of a terminal; a child leaves it to the front to decide. Without
a front (a fleet's own scorers) the usual signals do it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable


class Stopping:
    """Runs what is to be done at the end, once, whoever asks first."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._at_the_end: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    def listen(self, *, child: bool) -> None:
        """Wait for signals and, as a `child`, for the end of standard input. Main thread only."""
        signal.signal(signal.SIGINT, signal.SIG_IGN if child else self._signalled)
        signal.signal(signal.SIGTERM, self._signalled)
        if child:
            threading.Thread(target=self._watch_front, name="front", daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Sleep, but not beyond being asked to stop; whether that was asked."""
        return self._asked.wait(seconds)

    def then(self, action: Callable[[], None]) -> None:
        """Do this when asked to stop; at once where that was before."""
        with self._lock:
            self._at_the_end.append(action)
            late = self.asked
        if late:
            action()

    def stop(self) -> None:
        """Ask to stop; the actions run in this thread, in their order."""
        with self._lock:
            if self.asked:
                return
            self._asked.set()
            actions = list(self._at_the_end)
        for action in actions:
            action()

    def _signalled(self, *_: object) -> None:
        # A handler interrupts the main thread, perhaps while it holds the lock.
        threading.Thread(target=self.stop, name="stop", daemon=True).start()

    def _watch_front(self) -> None:
        # Not through sys.stdin: a thread that waits inside its buffer holds the buffer's lock, and
        # an interpreter that ends meanwhile aborts when it cannot take it.
        while os.read(sys.stdin.fileno(), 1024):
            pass
        self.stop()
