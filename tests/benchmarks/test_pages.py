"""How fast the pages answer over a million scores; acceptance: p95 under 200 ms each.

pytest tests/benchmarks/test_pages.py -m slow -s

HSS_LOAD_COUNT makes another number of scores, HSS_LOAD_SQLITE and HSS_LOAD_POSTGRESQL name
databases that `load.py` has filled before.
"""

from __future__ import annotations

import os
import runpy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from monitor.storage.breach_list import BreachFilter
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.engine import Database, connect
from monitor.storage.queries import RecordFilter, list_records
from monitor.storage.schema import upgrade
from monitor.stores import now

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("HSS_LOAD_COUNT", "1000000"))
LIMIT_MS = 200.0
ROUNDS = 40
_here = Path(__file__).parent
_load = runpy.run_path(str(_here / "load.py"))["load"]
_sidecar = runpy.run_path(str(_here.parent / "acceptance" / "sidecar.py"))["Sidecar"]


@pytest.fixture(params=["sqlite", "postgresql"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database with COUNT scores."""
    named = os.environ.get(f"HSS_LOAD_{request.param.upper()}")
    if named:
        yield named
        return
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'load.db'}"
        made = connect(url)
        upgrade(made)
    else:
        cluster = request.getfixturevalue("postgres_cluster")
        url = cluster.create(request.getfixturevalue("postgres_template"))
        made = connect(url)
    _load(made, count=COUNT)
    made.close()
    yield url


def _paths(database: Database) -> dict[str, str]:
    [breach] = [
        row
        for row in SqlBreachStore(database, clock=now)
        .list_breaches(BreachFilter(state="open"))
        .rows
        if row.threshold == "hss_mean"
    ]
    newest = list_records(database, RecordFilter(release="2026.11.30-rc2", min_hss=0.5), limit=1)
    series = "service=newsroom&model=gemma-270m&category=politics"
    return {
        "overview": "/",
        "breach": f"/breaches/{breach.id}",
        "records": "/records",
        "records of a series": f"/records?{series}",
        "records of a service, HSS ≥ 0.9": "/records?service=newsroom&min_hss=0.9",
        "records skipped": "/records?state=skipped",
        "records by reason": "/records?reason=too_long&service=case-files",
        "records a month ago": "/records?until=25d",
        "records with a text": "/records?text=Wexford",
        "records without the text": "/records?text=nowhere+at+all",
        "records, HSS that none has": f"/records?{series}&min_hss=1",
        "record": f"/records/{newest.rows[0].id}",
    }


def test_every_page_answers_in_time(loaded: str, tmp_path: Path) -> None:
    """p95 of each, over the real front; the slowest are printed."""
    database = connect(loaded)
    paths = _paths(database)
    database.close()
    sidecar: Any = _sidecar(
        tmp_path,
        {
            "database": {"url": loaded},
            "evaluation": {"enabled": False},
            "scheduler": {"gauges_seconds": 10},
        },
    )
    sidecar.start()
    try:
        found = {name: _p95(sidecar.http, path) for name, path in paths.items()}
    finally:
        sidecar.close()
    for name, (middle, high) in found.items():
        print(f"{loaded.split(':')[0]:12} {name:34} p50 {middle:6.1f} ms  p95 {high:6.1f} ms")  # noqa: T201
    slow = {name: high for name, (_, high) in found.items() if high >= LIMIT_MS}
    assert slow == {}


def _p95(http: httpx.Client, path: str) -> tuple[float, float]:
    http.get(path).raise_for_status()
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        http.get(path).raise_for_status()
        taken.append((time.perf_counter() - start) * 1000)
    taken.sort()
    return taken[ROUNDS // 2], taken[int(ROUNDS * 0.95) - 1]
