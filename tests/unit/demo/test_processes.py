"""The demo's child processes."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from monitor.demo import processes
from monitor.demo.processes import Child
from monitor.errors import DependencyUnavailable


def _child(folder: Path, script: str) -> Child:
    return Child(
        "the sleeper",
        [sys.executable, "-c", script],
        health="http://127.0.0.1:1/readyz",
        log=folder / "log",
        env={},
    )


def test_a_process_that_is_not_ready_yet_is_asked_in_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked without a pause it would be kept from becoming ready."""
    answers: list[httpx.Response | Exception] = [
        httpx.ConnectError("not yet"),
        httpx.Response(503),
        httpx.Response(200),
    ]
    slept: list[float] = []

    def get(*_: object, **__: object) -> httpx.Response:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(processes.httpx, "get", get)
    monkeypatch.setattr(processes.time, "sleep", slept.append)
    child = _child(tmp_path, "import time; time.sleep(60)")
    child.start()
    # Stopping waits in pauses of its own.
    waited = list(slept)
    child.stop()
    assert (waited, answers) == ([0.1, 0.1], [])


def test_a_process_that_ends_while_it_starts_is_told_with_its_log(tmp_path: Path) -> None:
    """Its last words are there."""
    child = _child(tmp_path, "raise SystemExit(7)")
    with pytest.raises(DependencyUnavailable, match=r"the sleeper ended with 7 .*log says why"):
        child.start()
