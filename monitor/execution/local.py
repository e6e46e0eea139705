"""Child processes that stay alive, because a model takes longer to load than to use.

Each child holds the read end of a pipe from us as its standard input. When the front dies,
however it dies, the pipe closes and the child ends by itself: none is left behind.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from monitor.execution.restarts import Restarts

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Slot:
    restarts: Restarts = field(default_factory=Restarts)
    process: subprocess.Popen[bytes] | None = None


class LocalProcesses:
    """Starts `count` processes with `command` and keeps them running.

    `supervise` is to be called every few seconds from one thread: it starts a dead child
    again, at once after a healthy life, else after a pause that doubles up to a minute.
    `greeting` is the first thing that a child can read from its standard input: the way for a
    key that must not stand in an environment or on a disk. `name` begins the log's events.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        count: int,
        environment: Mapping[str, str],
        monotonic: Callable[[], float],
        greeting: bytes = b"",
    ) -> None:
        self._name = name
        self._command = list(command)
        self._environment = dict(environment)
        self._monotonic = monotonic
        self._greeting = greeting
        self._slots = [_Slot() for _ in range(count)]
        self._stopped = False

    def supervise(self) -> int:
        """Start what should run and does not; returns how many had died since the last call."""
        died = 0
        for number, slot in enumerate(self._slots):
            if self._stopped:
                break
            now = self._monotonic()
            if slot.process is not None:
                code = slot.process.poll()
                if code is None:
                    continue
                died += 1
                pause = slot.restarts.died(now)
                self._close(slot)
                log.warning(f"{self._name}_died", number=number, code=code, restart_in=pause)
            if slot.restarts.due(now):
                # Unbuffered: what a dead child never read would be written again at the close.
                slot.process = subprocess.Popen(  # noqa: S603 -- our own interpreter and module
                    self._command, stdin=subprocess.PIPE, bufsize=0, env=self._environment
                )
                slot.restarts.began(now)
                self._greet(slot.process)
        return died

    def running(self) -> int:
        """Children that are alive now."""
        return sum(slot.process is not None and slot.process.poll() is None for slot in self._slots)

    def pids(self) -> list[int]:
        """Process ids of the living children."""
        return [slot.process.pid for slot in self._slots if slot.process is not None]

    def stop(self, *, seconds: float) -> None:
        """Ask all children to end (they finish the record at hand), then kill what is left."""
        self._stopped = True
        for slot in self._slots:
            if slot.process is not None and slot.process.stdin is not None:
                slot.process.stdin.close()
        deadline = self._monotonic() + seconds
        for slot in self._slots:
            if slot.process is not None:
                try:
                    slot.process.wait(max(0.0, deadline - self._monotonic()))
                except subprocess.TimeoutExpired:
                    slot.process.kill()
                    slot.process.wait()
                slot.process = None

    def _greet(self, process: subprocess.Popen[bytes]) -> None:
        if self._greeting and process.stdin is not None:
            with suppress(BrokenPipeError):  # it died at once; the next turn sees that
                process.stdin.write(self._greeting)

    @staticmethod
    def _close(slot: _Slot) -> None:
        if slot.process is not None and slot.process.stdin is not None:
            slot.process.stdin.close()
        slot.process = None
