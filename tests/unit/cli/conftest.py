"""The command line in this process, with a database of its own."""

from __future__ import annotations

import json
import os
import runpy
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from monitor import configuration
from monitor.__main__ import _run
from monitor.records import IncomingRecord, RecordState, ScoredRecord, Severity
from monitor.storage.engine import connect
from monitor.storage.schema import upgrade
from monitor.stores import Stores, now, open_stores


@dataclass(frozen=True, kw_only=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines; fails where it is anything else."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the current schema and nothing in it; copying it is faster than making one."""
    file = tmp_path_factory.mktemp("template") / "hss.db"
    database = connect(f"sqlite:///{file}")
    upgrade(database)
    database.close()
    return file


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_database: Path) -> Path:
    """A configuration in a folder of its own, which every command reads by itself, beside an
    empty database."""
    shutil.copyfile(empty_database, tmp_path / "hss.db")
    for name in list(os.environ):
        if name.startswith("HSS_MONITOR"):
            monkeypatch.delenv(name)
    file = tmp_path / "hss-monitor.yaml"
    values = {
        "database": {"url": f"sqlite:///{tmp_path / 'hss.db'}"},
        "storage": {"hash_key_file": str(tmp_path / "hss.key")},
        # Nobody listens there; no test waits for an answer.
        "http": {"port": 1},
    }
    file.write_text(yaml.safe_dump(values))
    monkeypatch.setenv("HSS_MONITOR_CONFIG", str(file))
    monkeypatch.chdir(tmp_path)
    return file


@pytest.fixture
def cli(config_file: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs a command as the shell would, and gives its exit code and what it printed."""

    def run(*arguments: str) -> Result:
        capsys.readouterr()
        code = _run(list(arguments))
        printed = capsys.readouterr()
        return Result(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def add_records(tmp_path: Path, cli: Callable[..., Result]) -> Callable[[Sequence[Any]], Result]:
    """Ingests objects as `ingest` reads them from a file."""

    def add(records: Sequence[Any]) -> Result:
        file = tmp_path / "records.jsonl"
        file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        return cli("ingest", str(file), "--json")

    return add


@pytest.fixture
def score_all(config_file: Path) -> Callable[..., None]:
    """Finishes everything that waits, with an HSS or without."""

    def score(hss: float | None) -> None:
        with open_stores(configuration.load(config_file)) as stores:
            _score(stores, hss)

    return score


def _score(stores: Stores, hss: float | None) -> None:
    for item in stores.queue.lease("test", count=1_000, seconds=60):
        stores.queue.finish(item.lease, _result(item.record, hss))


def _result(record: IncomingRecord, hss: float | None) -> ScoredRecord:
    return ScoredRecord(
        record_id=record.id,
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category="news",
        scored_at=now(),
        fingerprint="fp",
        severity=Severity(
            hss=hss, low=None, high=None, reason=None, interval_reason=None, normalizer=None
        ),
        raw_distance=0.2,
    )


@pytest.fixture
def stores(config_file: Path) -> Iterator[Stores]:
    """The database of the commands, to put into it what they are to find."""
    with open_stores(configuration.load(config_file)) as opened:
        yield opened


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """Makers of findings and records, see `findings.py` beside this file."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("findings.py"))))
