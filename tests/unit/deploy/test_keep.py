"""The process that stays while the sidecar in its container comes and goes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

KEEP = Path(__file__).resolve().parents[3] / "deploy" / "docker" / "keep.py"
SIDECAR = """
import http.server, os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
if (folder / "fail").exists():
    sys.exit(3)

def leave(*_):
    (folder / "stopped").touch()
    sys.exit(0)

signal.signal(signal.SIGTERM, leave)

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        while (folder / "hang").exists():
            time.sleep(0.01)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Health)
server.daemon_threads = True
with (folder / "starts").open("a") as file:
    file.write(f"{os.getpid()}\\n")
server.serve_forever(0.01)
"""


class Kept:
    """A keeper in a process of its own, whose sidecar does what files in a folder tell it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._log = (folder / "log").open("wb")
        timing = ["--every", "0.1", "--failures", "2", "--start", "5"]
        health = ["--health", f"http://127.0.0.1:{port}/healthz"]
        command = ["--", sys.executable, "-c", SIDECAR, str(folder), str(port)]
        self.process = subprocess.Popen(
            [sys.executable, str(KEEP), *timing, *health, *command], stderr=self._log
        )

    @property
    def starts(self) -> list[int]:
        """Process ids of the sidecars that got as far as listening."""
        file = self.folder / "starts"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    @property
    def told(self) -> list[dict[str, Any]]:
        lines = (self.folder / "log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.02)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            for pid in self.starts[-1:]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._log.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Callable[[], Kept]]:
    made: list[Kept] = []

    def make() -> Kept:
        made.append(Kept(tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_sidecar_that_dies_is_started_again(kept: Callable[[], Kept]) -> None:
    """The container goes on, so the service's pod stays ready."""
    keeper = kept()
    keeper.wait_for(lambda: len(keeper.starts) == 1)
    os.kill(keeper.starts[0], signal.SIGKILL)
    keeper.wait_for(lambda: len(keeper.starts) == 2)
    assert keeper.process.poll() is None
    assert keeper.told[0] == {
        "event": "restarting",
        "logger": "keep",
        "code": -signal.SIGKILL,
        "seconds": 1.0,
    }


def test_a_sidecar_that_cannot_start_is_tried_at_growing_distances(
    kept: Callable[[], Kept], tmp_path: Path
) -> None:
    """A wrong configuration must not end the container, nor fill the node's log."""
    (tmp_path / "fail").touch()
    keeper = kept()
    keeper.wait_for(lambda: len(keeper.told) == 2)
    assert [(each["code"], each["seconds"]) for each in keeper.told] == [(3, 1.0), (3, 2.0)]
    assert keeper.process.poll() is None


def test_a_sidecar_that_hangs_is_killed_and_started_again(
    kept: Callable[[], Kept], tmp_path: Path
) -> None:
    """This is what a liveness probe would do, without its price."""
    keeper = kept()
    keeper.wait_for(lambda: len(keeper.starts) == 1)
    (tmp_path / "hang").touch()
    keeper.wait_for(lambda: len(keeper.starts) == 2)
    (tmp_path / "hang").unlink()
    assert keeper.told[0]["event"] == "killing"


def test_stopping_lets_the_sidecar_finish(kept: Callable[[], Kept], tmp_path: Path) -> None:
    """It hands back what it has at hand; the keeper ends after it, and with it the container."""
    keeper = kept()
    keeper.wait_for(lambda: len(keeper.starts) == 1)
    keeper.process.send_signal(signal.SIGTERM)
    assert keeper.process.wait(10) == 0
    assert (tmp_path / "stopped").exists()
    assert len(keeper.starts) == 1
