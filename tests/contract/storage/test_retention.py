"""Pruning and checking, over both databases."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.records import RecordState, SamplingEpoch
from monitor.settings import Settings
from monitor.storage.engine import Database
from monitor.storage.epochs import SqlEpochStore
from monitor.storage.integrity import check
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.retention import prune, stored_bytes
from monitor.storage.tables import null_runs, perturbations, records, scores
from monitor.stores import prune_by


@pytest.fixture
def fill(queue: SqlRecordQueue, make_sampled: Any, make_result: Any) -> Any:
    """Take in records with the given ages in days; they are finished unless told otherwise."""

    def run(ages: dict[str, float], *, finish: bool = True, **fields: Any) -> None:
        for name, age in ages.items():
            queue.accept([make_sampled(name, seconds=-age * 86400, **fields)])
            if finish:
                [leased] = queue.lease("w", count=1, seconds=60)
                queue.finish(leased.lease, make_result(name, calibration_id=None))

    return run


def ids(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.execute(sa.select(records.c.id)).scalars())


def test_texts_go_before_records(database: Database, clock: Any, fill: Any) -> None:
    """Texts are what is sensitive; scores are what is compared over months."""
    fill({"old": 100, "middle": 10, "young": 1})
    report = prune(
        database,
        clock=clock,
        texts_before=clock.now - timedelta(days=7),
        records_before=clock.now - timedelta(days=90),
        batch=1,
    )
    assert (report.texts_erased, report.records_deleted) == (2, 1)
    with database.read() as connection:
        rows = connection.execute(
            sa.select(records.c.id, records.c.document.is_not(None), records.c.erased_at)
        ).all()
        children = [
            set(connection.execute(sa.select(table.c.record_id)).scalars())
            for table in (scores, perturbations, null_runs)
        ]
    assert sorted(tuple(row) for row in rows) == [
        ("middle", False, clock.now),
        ("young", True, None),
    ]
    assert children == [{"middle", "young"}] * 3
    again = prune(database, clock=clock, texts_before=clock.now - timedelta(days=7))
    assert again.texts_erased == 0


def test_what_waits_for_a_scorer_is_never_pruned(database: Database, clock: Any, fill: Any) -> None:
    """An accepted record must end as scored, skipped or failed, not as deleted."""
    fill({"waiting": 400}, finish=False)
    later = clock.now + timedelta(days=1)
    report = prune(database, clock=clock, texts_before=later, records_before=later, max_bytes=1)
    assert (report.texts_erased, report.records_deleted, report.over_cap) == (0, 0, True)
    assert ids(database) == {"waiting"}


def test_the_size_cap_deletes_the_oldest_and_no_more(
    database: Database, clock: Any, fill: Any
) -> None:
    """The disk belongs to the service; the newest records are the ones that are asked for."""
    names = {f"r{age:02}": age for age in range(12, 0, -1)}
    fill(names, document="word " * 20_000)
    cap = stored_bytes(database) * 3 // 4
    report = prune(database, clock=clock, max_bytes=cap, batch=1)
    assert report.bytes_after <= cap < report.bytes_before
    assert report.over_cap is False
    assert 3 <= report.records_deleted <= 5
    assert ids(database) == set(sorted(names)[: 12 - report.records_deleted])
    assert prune(database, clock=clock, max_bytes=cap).records_deleted == 0


def test_without_a_configured_cap_sqlite_alone_has_one(
    database: Database, fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beside the service must not fill its disk; a server's disk is somebody's choice."""
    fill({f"r{age}": age for age in range(8)}, document="word " * 20_000)
    monkeypatch.setattr("monitor.settings.traffic.SQLITE_BYTES", stored_bytes(database) // 2)
    ever = Settings(storage={"keep_texts_days": 36_500, "keep_records_days": 36_500})
    deleted = prune_by(ever, database).records_deleted
    assert (deleted > 0) is database.is_sqlite


def test_erased_texts_count_towards_the_cap(database: Database, clock: Any, fill: Any) -> None:
    """Otherwise records would be deleted for texts that are gone already."""
    fill({"a": 1, "b": 2}, document="word " * 100_000)
    report = prune(database, clock=clock, texts_before=clock.now)
    assert report.bytes_after < report.bytes_before / 2


def test_sqlite_gives_the_space_back(database: Database, clock: Any, fill: Any) -> None:
    """A file that never shrinks fills the disk as surely as one that is never pruned."""
    if not database.is_sqlite:
        pytest.skip("PostgreSQL's autovacuum reuses the space")
    fill({f"r{index}": 1 for index in range(5)}, document="word " * 200_000)
    path = Path(str(database.engine.url.database))
    prune(database, clock=clock, records_before=clock.now)
    sizes = [path.stat().st_size, path.with_name(path.name + "-wal").stat().st_size]
    assert sizes[0] < 500_000
    assert sizes[1] == 0


def test_ended_epochs_go_but_the_latest_stays(database: Database, clock: Any) -> None:
    """The next epoch is computed from the one before."""
    store = SqlEpochStore(database)
    for number in (1, 2):
        start = clock.now - timedelta(days=100 - number)
        end = start + timedelta(hours=1)
        store.open(
            SamplingEpoch(number=number, starts_at=start, ends_at=end, rates={}, default_rate=0.5)
        )
    prune(database, clock=clock, records_before=clock.now)
    latest = store.latest()
    assert latest is not None
    assert latest.number == 2
    assert len(check(database).rows) > 0
    assert check(database).rows["epochs"] == 1


def test_a_sound_database_passes_the_check(database: Database, fill: Any) -> None:
    """What `db check` prints: revision, rows, states."""
    fill({"a": 1})
    report = check(database)
    assert (report.ok, report.current, report.problems) == (True, True, ())
    assert (report.rows["records"], report.rows["perturbations"]) == (1, 2)
    assert report.states == {RecordState.SCORED: 1}
    assert report.bytes > 0


def test_the_check_finds_what_contradicts_itself(database: Database, fill: Any) -> None:
    """A score that is gone, and a calibration that never was."""
    fill({"a": 1, "b": 2})
    with database.write() as connection:
        connection.execute(sa.delete(scores).where(scores.c.record_id == "a"))
        connection.execute(sa.update(scores).values(calibration_id="none"))
    report = check(database)
    assert report.problems == (
        "1 scored records have no score",
        "1 scores name a calibration that is not stored",
    )
    assert report.ok is False


def test_the_check_finds_a_damaged_file(database: Database, fill: Any) -> None:
    """A disk that lies must not be believed in silence."""
    if not database.is_sqlite:
        pytest.skip("PostgreSQL guards its own files")
    fill({f"r{index}": 1 for index in range(30)})
    with database.autocommit() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
        root = connection.exec_driver_sql(
            "SELECT rootpage FROM sqlite_master WHERE name = 'ix_records_received'"
        ).scalar_one()
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
    database.close()
    path = Path(str(database.engine.url.database))
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    data[start + size // 2 : start + size] = bytes(size // 2)
    path.write_bytes(data)
    assert any("integrity_check" in problem for problem in check(database).problems)
