"""A busy log, rotated by rename, with a reader that is killed: each line once.

pytest tests/acceptance/test_log_tail.py -m slow
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

LINES, ROTATE_EVERY, KILLS = 100_000, 9_000, 5
WRITER = """
import json, logging, logging.handlers, sys, time
path, lines, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
log = logging.getLogger("service")
log.setLevel(logging.INFO)
handler = logging.handlers.RotatingFileHandler(path, backupCount=1000)
log.addHandler(handler)
for number in range(lines):
    if number and number % every == 0:
        handler.doRollover()
    log.info(json.dumps({"n": number, "text": "Document number %d." % number, "answer": "Short."}))
    if number % 50 == 0:
        time.sleep(0.02)
"""
FIELDS = {
    "document": "text",
    "summary": "answer",
    "service": "'newsroom'",
    "model": "'m-1'",
}


def stored(database: Path) -> int:
    """Records in the queue; 0 before there is a table."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM records").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(count)


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def test_every_line_of_a_rotated_log_arrives_once(tmp_path: Path) -> None:
    """The writer is Python's own handler; the reader the command, killed without a warning."""
    database, log = tmp_path / "hss.db", tmp_path / "service.log"
    config = tmp_path / "hss-monitor.yaml"
    values = {
        "database": {"url": f"sqlite:///{database}"},
        "storage": {"hash_key_file": str(tmp_path / "key")},
        "http": {"backlog_limit": 2 * LINES},
        "ingest": {
            "tail": {
                "position_file": str(tmp_path / "position"),
                "fields": FIELDS,
                "poll_seconds": 0.2,
            }
        },
    }
    config.write_text(yaml.safe_dump(values))
    follow = [sys.executable, "-m", "monitor", "ingest", "--follow", str(log)]
    follow += ["--config", str(config), "--json"]

    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(log), str(LINES), str(ROTATE_EVERY)]
    )
    try:
        for kill in range(1, KILLS + 1):
            reader = subprocess.Popen(follow, stderr=subprocess.DEVNULL)
            reached = LINES * kill // (KILLS + 1)
            wait_for(lambda reached=reached: stored(database) >= reached, 300)  # type: ignore[misc]
            reader.kill()
            reader.wait()
        assert writer.wait(300) == 0
        assert len(list(tmp_path.glob("service.log.*"))) == LINES // ROTATE_EVERY
        reader = subprocess.Popen(follow, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_for(lambda: stored(database) >= LINES, 300)
        time.sleep(1)
        reader.send_signal(signal.SIGTERM)
        told, _ = reader.communicate(timeout=60)
        assert json.loads(told)["rejected"] == 0
    finally:
        for process in (writer, reader):
            if process.poll() is None:
                process.kill()
                process.wait()
    with closing(sqlite3.connect(database)) as connection:
        documents = [row[0] for row in connection.execute("SELECT document FROM records")]
    assert len(documents) == LINES
    assert {int(text.split()[-1].rstrip(".")) for text in documents} == set(range(LINES))
