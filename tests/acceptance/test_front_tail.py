"""The front follows a log beside its port."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_a_followed_log_goes_on_after_a_restart(
    make_sidecar: Callable[..., Any], tmp_path: Path
) -> None:
    """Lines are counted once, what is no record is told, and the log holds no text."""
    log = tmp_path / "calls.log"
    tail = {
        "file": str(log),
        "position_file": str(tmp_path / "position"),
        "poll_seconds": 0.1,
        "fields": {"document": "in", "summary": "out", "service": "'news'", "model": "'m'"},
    }
    sidecar = make_sidecar(ingest={"tail": tail}, evaluation={"enabled": False})

    def write(*items: Any) -> None:
        with log.open("a") as file:
            file.writelines(f"{json.dumps(item)}\n" for item in items)

    write({"in": "The first document.", "out": "First."}, {"level": "info"})
    sidecar.wait_for(lambda: sidecar.total("hss_records_received_total") == 1)
    assert sidecar.total("hss_records_skipped_total", reason="content_missing") == 1
    [told] = sidecar.log_of("log_lines_rejected")
    assert told["lines"] == 1
    assert sidecar.terminate() == 0
    write({"in": "The second document.", "out": "Second."})
    sidecar.start()
    sidecar.wait_for(lambda: sidecar.total("hss_records_received_total") == 1)
    documents = [row["document"] for row in sidecar.rows("SELECT document FROM records")]
    assert sorted(documents) == ["The first document.", "The second document."]
    assert "document." not in json.dumps(sidecar.log())


def test_the_command_follows_until_it_is_told_to_stop(
    make_sidecar: Callable[..., Any], tmp_path: Path
) -> None:
    """Into the database of a sidecar; a line that is a record as it stands needs no mapping."""
    tail = {"position_file": str(tmp_path / "position"), "poll_seconds": 0.1}
    sidecar = make_sidecar(ingest={"tail": tail}, evaluation={"enabled": False})
    log = tmp_path / "calls.log"
    record = {"document": "A document.", "summary": "A summary.", "service": "s", "model": "m"}
    log.write_text(f"{json.dumps(record)}\n")
    command = [sys.executable, "-m", "monitor", "ingest", "--follow", str(log), "--json"]
    process = subprocess.Popen(
        [*command, "--config", str(sidecar.file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    sidecar.wait_for(lambda: len(sidecar.rows("SELECT id FROM records")) == 1)
    process.send_signal(signal.SIGTERM)
    told, _ = process.communicate(timeout=30)
    assert json.loads(told) == {
        "accepted": 1,
        "sampled": 1,
        "known": 0,
        "rejected": 0,
        "replays": 0,
    }
    assert process.returncode == 0
