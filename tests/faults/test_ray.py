"""Scorers on a real Ray of this machine: killed in the middle of their work, stopped, orphaned."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # ships no types
import pytest

FAKE = Path(__file__).with_name("fake_scorer")
SECRET = "a-key-that-nobody-may-read"
EXECUTION = {"backend": "none", "poll_seconds": 0.05, "lease_seconds": 1.0}
START_SECONDS = 90.0

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray is not installed: pip install 'hss-monitor[ray]'"
)


class Command:
    """`hss-monitor scorer --ray` for the queue of a sidecar, and the processes of its Ray."""

    def __init__(self, sidecar: Any) -> None:
        self.log = sidecar.folder / "ray.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "monitor", "scorer", "--ray", "--config", sidecar.file],
                cwd=sidecar.folder,
                env={**os.environ, "PYTHONPATH": str(FAKE)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        sidecar.wait_for(self.is_staffed, seconds=START_SECONDS)
        self.family = psutil.Process(self.process.pid).children(recursive=True)
        self.names = {process.pid: process.name() for process in self.family}

    def is_staffed(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return self.log.read_text().count('"scorer_placed"') == 2

    def session(self) -> Path:
        """The folder that Ray writes to."""
        [folder] = {
            word.removeprefix("--session-dir=")
            for process in self.family
            if process.is_running()
            for word in process.cmdline()
            if word.startswith("--session-dir=")
        }
        return Path(folder)

    def left_behind(self, name: str = "") -> list[psutil.Process]:
        """Processes of it that have not ended, a moment after it has."""
        wanted = [process for process in self.family if name in self.names[process.pid]]
        assert wanted, self.names
        _, alive = psutil.wait_procs(wanted, timeout=20)
        return list(alive)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


@pytest.fixture(scope="module")
def start(make_sidecar: Callable[..., Any]) -> Iterator[Callable[[], tuple[Any, Command]]]:
    """Starts a front without scorers of its own, and two on Ray."""
    started: list[Command] = []

    def start() -> tuple[Any, Command]:
        front = make_sidecar(
            path=FAKE,
            execution={**EXECUTION, "max_attempts": 2, "ray": {"scorers": 2, "cpus": 0.5}},
            evaluation={"enabled": False},
            scheduler={"supervise_seconds": 0.2},
            summarizer={
                "kind": "chat",
                "chat": {"url": "http://127.0.0.1:1/", "model": "m", "api_key": SECRET},
            },
        )
        started.append(Command(front))
        return front, started[-1]

    yield start
    for command in started:
        command.close()


def _worker_of(front: Any, record_id: str) -> int | None:
    """The process that has leased a record."""
    leased = front.rows("SELECT id, lease_worker FROM records WHERE state = 'leased'")
    return {row["id"]: int(row["lease_worker"]) for row in leased}.get(record_id)


def test_a_record_whose_actor_was_killed_is_scored_by_another(
    start: Any, record: Any, states: Any
) -> None:
    """A machine that is lost costs a lease, and nothing else; nor does it tell a secret."""
    front, command = start()
    ids = [f"r{n}" for n in range(12)]
    front.post_records(record("slow", "sleep 1"), *(record(name, "sleep 0.1") for name in ids))
    front.wait_for(lambda: _worker_of(front, "slow") is not None)
    victim = _worker_of(front, "slow")
    assert victim in {process.pid for process in command.family}
    os.kill(victim, signal.SIGKILL)

    every = ["slow", *ids]
    front.wait_for(lambda: states(front) == dict.fromkeys(every, ("scored", None)))
    assert front.rows("SELECT attempts FROM records WHERE id = 'slow'") == [{"attempts": 2}]
    assert front.rows("SELECT count(*) AS n FROM scores") == [{"n": len(every)}]
    front.wait_for(lambda: front.total("hss_records_scored_total") == len(every))
    front.wait_for(lambda: command.log.read_text().count('"scorer_placed"') == 3)
    assert command.log.read_text().count('"scorer_died"') == 1

    listening = [
        connection.laddr.ip
        for process in psutil.Process(command.process.pid).children(recursive=True)
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) > 3
    assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}
    written = [file for file in command.session().rglob("*") if file.is_file()]
    assert any(b"ScorerActor" in file.read_bytes() for file in written)
    assert [file for file in [*written, command.log] if SECRET.encode() in file.read_bytes()] == []


@pytest.mark.slow
def test_a_stopped_command_finishes_what_its_actors_have_begun(
    start: Any, record: Any, states: Any
) -> None:
    """Nothing stays leased, so that the next start need not wait for leases to run out."""
    front, command = start()
    front.post_records(*(record(f"r{n}", "sleep 0.7") for n in range(6)))
    front.wait_for(lambda: list(states(front).values()).count(("leased", None)) == 2)

    command.process.terminate()
    assert command.process.wait(60) == 0
    assert command.left_behind() == []
    told = list(states(front).values())
    assert told.count(("scored", None)) >= 2
    assert set(told) <= {("scored", None), ("queued", None)}


@pytest.mark.slow
def test_no_actor_outlives_a_killed_command(start: Any) -> None:
    """It would go on scoring, and nobody would know of it."""
    _, command = start()
    command.process.kill()
    command.process.wait()
    # Ray's own processes take a minute to notice; they hold no model and no secret.
    assert command.left_behind("ray::Scorer") == []
