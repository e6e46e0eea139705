"""Keeps a sidecar running inside a container that itself never ends.

    python keep.py [--health URL] -- hss-monitor run

A container beside a service that ends, is restarted or fails a probe makes the service's pod
unready, and the service loses its traffic because its monitor has a bad day: a database that does
not answer, a wrong key in the configuration. So the process that the kubelet sees is this one. It
starts the command again when it ends or no longer answers, after pauses that grow to a minute, and
ends only when it is told to. Standard library only: it takes 10 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from types import FrameType

LONGEST_PAUSE = 60.0


class Keeper:
    """Runs one command, over and over; times are in seconds."""

    def __init__(
        self, command: list[str], *, health: str, every: float, failures: int, start: float
    ) -> None:
        self._command = command
        self._health = health
        self._every = every
        self._failures = failures
        self._start = start
        self._stopping = False
        self._process: subprocess.Popen[bytes] | None = None
        # The sidecar is on this machine; a proxy of the environment is not for it.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def run(self) -> None:
        """Return when told to stop, after the command has ended, too."""
        pause = 0.0
        while not self._stopping:
            began = time.monotonic()
            self._process = subprocess.Popen(self._command)  # noqa: S603 -- it is ours to run
            code = self._watch(self._process)
            if self._stopping:
                return
            healthy = time.monotonic() - began >= LONGEST_PAUSE
            pause = 1.0 if healthy else min(max(1.0, 2 * pause), LONGEST_PAUSE)
            say("restarting", code=code, seconds=pause)
            until = time.monotonic() + pause
            while not self._stopping and time.monotonic() < until:
                time.sleep(0.1)
                reap(None)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Signal handler: hand the signal on, and start nothing again."""
        self._stopping = True
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)

    def _watch(self, process: subprocess.Popen[bytes]) -> int:
        """The exit code of the command; it is killed where it does not answer any more."""
        answered, failed = False, 0
        began = looked = time.monotonic()
        while not reap(process):
            time.sleep(0.1)
            now = time.monotonic()
            if now - looked < self._every:
                continue
            if self._is_healthy():
                answered, failed = True, 0
            elif answered or now - began > self._start:
                failed += 1
            if failed >= self._failures and not self._stopping:
                say("killing", failures=failed)
                process.kill()
            looked = time.monotonic()
        return process.returncode

    def _is_healthy(self) -> bool:
        try:
            with self._opener.open(self._health, timeout=self._every / 2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError, ValueError):
            return False


def reap(process: subprocess.Popen[bytes] | None) -> bool:
    """Collect children that ended, also strangers' (this is process 1); whether ours did."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pid, status = 0, 0
        if process is not None and pid == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
        if pid == 0:
            return process is not None and process.returncode is not None


def say(event: str, **fields: float) -> None:
    """One line of log, in the form of the sidecar's own."""
    sys.stderr.write(json.dumps({"event": event, "logger": "keep", **fields}) + "\n")
    sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--health", default="http://127.0.0.1:8318/healthz")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two looks")
    parser.add_argument("--failures", type=int, default=6, help="in a row, before it is killed")
    parser.add_argument("--start", type=float, default=120.0, help="seconds it may take to start")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    keeper = Keeper(
        given.command,
        health=given.health,
        every=given.every,
        failures=given.failures,
        start=given.start,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, keeper.stop)
    keeper.run()


if __name__ == "__main__":
    main()
