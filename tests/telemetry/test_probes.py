"""`/healthz` and `/readyz`: they speak of this process and of nothing else."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import monitor

RECORD = {"document": "d", "summary": "s", "service": "s", "model": "m"}


def _probe(front: Any) -> float:
    """Seconds that both probes took together."""
    began = time.monotonic()
    assert front.http.get("/healthz").json() == {"status": "ok", "version": monitor.__version__}
    assert front.http.get("/readyz").json() == {"status": "ready"}
    return time.monotonic() - began


def test_probes_answer_while_the_database_is_locked(sidecar: Any) -> None:
    """A probe that fails makes the whole pod unready, and the service with it.

    Eight posts wait meanwhile, more than the front has threads for them; they are taken when
    the lock is gone.
    """
    lock = sqlite3.connect(sidecar.folder / "hss.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(8) as pool:
        posts = [pool.submit(sidecar.post_records, {"id": f"l{n}", **RECORD}) for n in range(8)]
        time.sleep(0.5)
        assert _probe(sidecar) < 3.0
        assert not any(post.done() for post in posts)
        lock.execute("ROLLBACK")
        assert {post.result().status_code for post in posts} == {200}
    lock.close()


def test_probes_answer_without_a_database(make_sidecar: Any) -> None:
    """A database that is gone is an alert, not a reason to stop the service beside us."""
    front = make_sidecar(scheduler={"gauges_seconds": 0.2})
    for file in Path(front.folder).glob("hss.db*"):
        file.rename(file.with_name(f"gone-{file.name}"))
    (Path(front.folder) / "hss.db").mkdir()
    time.sleep(1.0)
    assert _probe(front) < 3.0
    assert front.http.get("/metrics").status_code == 200
    front.close()
