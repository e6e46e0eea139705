"""What a log may say of an exception."""

from __future__ import annotations

import json
import threading

import pytest

from monitor import logs
from monitor.errors import DatabaseUnavailable
from monitor.scheduler import Job, background


def test_a_foreign_message_is_not_repeated() -> None:
    """It may quote a text; frames are lines of code."""
    try:
        float("the" + " document")
    except ValueError as error:
        told = logs.failure(error)
    assert (set(told), told["error"]) == ({"error", "frames"}, "ValueError")
    assert "test_logs.py" in json.dumps(told)
    assert "the document" not in json.dumps(told)


def test_what_the_database_says_is_told() -> None:
    """A full disk is repaired by whoever reads that it is full."""
    told = logs.failure(DatabaseUnavailable("database sqlite:///x: database or disk is full; …"))
    assert told == {
        "error": "DatabaseUnavailable",
        "problem": "database sqlite:///x: database or disk is full; …",
    }


def test_a_failed_job_logs_why(capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, and goes on."""
    logs.configure("info", "json")
    done = threading.Event()

    def fail() -> None:
        raise DatabaseUnavailable("database sqlite:///x: locked; …")

    scheduler = background(
        [Job(name="prune", seconds=0.01, run=fail)], count=lambda job, outcome: done.set()
    )
    scheduler.start()
    assert done.wait(60)
    scheduler.shutdown()
    line = json.loads(capsys.readouterr().err.splitlines()[0])
    assert (line["event"], line["job"]) == ("job_failed", "prune")
    assert line["problem"] == "database sqlite:///x: locked; …"
