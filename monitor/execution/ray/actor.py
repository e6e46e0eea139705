"""One scorer in a process that Ray started, on whichever machine it has a place."""

from __future__ import annotations

import os
import pickle
import socket
import threading
from collections.abc import Callable
from typing import Protocol

import monitor
from monitor.errors import ConfigurationError


class Scorer(Protocol):
    """What an actor runs; made anew in each actor's process."""

    def run(self) -> None:
        """Score until `stop`; the record at hand is finished before this returns."""

    def stop(self) -> None:
        """End soon, also where `run` has not been called yet. Called from another thread."""


class ScorerActor:
    """One scorer in a process that Ray started: `run` in one thread, `stop` from a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scorer: Scorer | None = None
        self._stopped = False

    def place(self) -> str:
        """Host and process id, as they stand on the leases."""
        return f"{socket.gethostname()}:{os.getpid()}"

    def run(self, version: str, sealed: bytes) -> None:
        """Make the scorer from `sealed` and run it. Raises what that raises."""
        if version != monitor.__version__:
            raise ConfigurationError(
                f"execution.ray: {socket.gethostname()!r} has hss-monitor {monitor.__version__} "
                f"and the command {version}; install the same version on every machine"
            )
        make: Callable[[], Scorer] = pickle.loads(sealed)  # noqa: S301 -- made by our own driver
        scorer = make()
        with self._lock:
            self._scorer = scorer
            if self._stopped:
                return
        scorer.run()

    def stop(self) -> None:
        """Let `run` return after the record at hand."""
        with self._lock:
            self._stopped = True
            scorer = self._scorer
        if scorer is not None:
            scorer.stop()
