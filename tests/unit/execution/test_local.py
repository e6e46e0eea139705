"""Scorer processes: started, restarted with growing pauses, never left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.execution.local import LocalProcesses

WAITS_FOR_END = "import sys; sys.stdin.buffer.read()"
DIES = "import sys; sys.exit(3)"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _pool(code: str, clock: Clock, count: int = 1, greeting: bytes = b"") -> LocalProcesses:
    return LocalProcesses(
        "scorer",
        [sys.executable, "-c", code],
        count=count,
        environment=os.environ,
        monotonic=clock,
        greeting=greeting,
    )


@pytest.fixture
def clock() -> Iterator[Clock]:
    yield Clock()


def _wait_until_dead(pool: LocalProcesses) -> None:
    deadline = time.monotonic() + 20
    while pool.running() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_as_many_children_run_as_asked(clock: Clock) -> None:
    """`execution.scorers` processes hold the models."""
    pool = _pool(WAITS_FOR_END, clock, count=2)
    pool.supervise()
    assert pool.running() == 2
    pool.stop(seconds=20)
    assert pool.running() == 0


def test_a_killed_child_is_replaced_after_a_pause(clock: Clock) -> None:
    """A scorer may die at any moment."""
    pool = _pool(WAITS_FOR_END, clock)
    pool.supervise()
    (first,) = pool.pids()
    os.kill(first, 9)
    _wait_until_dead(pool)
    assert pool.supervise() == 1
    assert pool.running() == 0, "it must not come back before its pause is over"
    clock.now += 1.0
    pool.supervise()
    assert pool.running() == 1
    assert pool.pids() != [first]
    pool.stop(seconds=20)


def test_pauses_double_when_the_start_fails(clock: Clock) -> None:
    """A wrong model path must not eat the machine with restarts."""
    pool = _pool(DIES, clock)
    starts = []
    pool.supervise()
    for _ in range(3):
        _wait_until_dead(pool)
        pool.supervise()
        before = clock.now
        while not pool.pids():
            clock.now += 0.5
            pool.supervise()
        starts.append(clock.now - before)
    pool.stop(seconds=20)
    assert starts == [1.0, 2.0, 4.0]


def test_a_child_that_dies_before_its_greeting_is_one_death(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it never read must not break the turn that replaces it, nor count it twice."""

    class DiedAtOnce(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.wait()

    monkeypatch.setattr(subprocess, "Popen", DiedAtOnce)
    pool = _pool(DIES, clock, greeting=b"key\n")
    assert pool.supervise() == 0
    assert pool.supervise() == 1
    assert pool.supervise() == 0
    pool.stop(seconds=20)


def test_a_child_reads_its_greeting_first(clock: Clock, tmp_path: Path) -> None:
    """The way for a key that must not stand in an environment or on a disk."""
    heard = tmp_path / "heard"
    code = f"import sys, pathlib; pathlib.Path({str(heard)!r}).write_text(input())"
    pool = _pool(code, clock, greeting=b"key\n")
    pool.supervise()
    _wait_until_dead(pool)
    pool.stop(seconds=20)
    assert heard.read_text() == "key"


def test_a_child_ends_when_its_front_is_killed() -> None:
    """Without the pipe a killed front would leave scorers that nobody knows of."""
    front = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys, time\n"
            "from monitor.execution.local import LocalProcesses\n"
            f"pool = LocalProcesses('scorer', [sys.executable, '-c', {WAITS_FOR_END!r}], count=1,"
            " environment=os.environ, monotonic=time.monotonic)\n"
            "pool.supervise(); print(pool.pids()[0], flush=True); time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
    )
    assert front.stdout is not None
    child = int(front.stdout.readline())
    front.kill()
    front.wait()
    front.stdout.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if _is_zombie(child):
            return
        time.sleep(0.05)
    pytest.fail("the child outlived its front")


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 -- procfs, no Path needed
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True
