"""Opening databases, and what is said when it fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from monitor.errors import ConfigurationError, DatabaseUnavailable
from monitor.records import RecordState
from monitor.storage.claims import claimable
from monitor.storage.engine import Database, connect
from monitor.storage.queries import ROW_COLUMNS
from monitor.storage.schema import upgrade
from monitor.storage.tables import records, scores


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://localhost/x", "'mysql' is not supported; use 'sqlite' or 'postgresql'"),
        ("nonsense", "'nonsense' is not supported"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:////no/such/folder/x.db", "/no/such/folder"),
        ("postgresql://user:hunter2@host:port/x", "cannot be read as a URL"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_a_remedy(url: str, words: str) -> None:
    """And without the password that it may hold."""
    with pytest.raises(ConfigurationError, match=r"database\.url") as caught:
        connect(url)
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_server_that_does_not_answer_is_unavailable(tmp_path: Path) -> None:
    """Exit code 3, and the password stays out of the message."""
    database = connect(f"postgresql://user:hunter2@/x?host={tmp_path}")
    with pytest.raises(DatabaseUnavailable) as caught, database.read():
        pass
    assert "hunter2" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_network_that_swallows_everything_is_not_waited_for_as_long_as_systems_do() -> None:
    """A front would hang with it: each thread that asks the database, and the senders behind."""
    database, asked = connect("postgresql://hss@db/x", wait_seconds=10), {}

    def connecting(dialect: Any, record: Any, arguments: Any, options: dict[str, Any]) -> None:
        asked.update(options)
        raise DatabaseUnavailable

    sa.event.listen(database.engine, "do_connect", connecting)
    with pytest.raises(DatabaseUnavailable), database.read():
        pass
    own = {"prepare_threshold", "context"}  # psycopg's, the others are libpq's
    libpq = {name: value for name, value in asked.items() if name not in own}
    known = conninfo_to_dict(make_conninfo(**libpq))  # refuses what libpq does not know
    times = {name: str(value) for name, value in known.items() if "keepalives" in name}
    assert times == {"keepalives_idle": "10", "keepalives_interval": "10", "keepalives_count": "2"}
    assert known["tcp_user_timeout"] == "30000"


def test_a_password_in_the_query_is_not_shown_either() -> None:
    """libpq takes it from there as well; the address stands in the log of every start."""
    database = connect("postgresql://user@/x?host=/nowhere&password=hunter2&sslpassword=hunter3")
    assert "hunter" not in database.url
    assert "/nowhere" in unquote(database.url)


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    """A wrong path in the configuration is not a defect of ours."""
    file = tmp_path / "notes.db"
    file.write_bytes(b"These are no pages of a database, only words. " * 40)
    database = connect(f"sqlite:///{file}")
    with (
        pytest.raises(DatabaseUnavailable, match="not a database; put a backup in its place"),
        database.read(),
    ):
        pass
    database.close()


def test_a_locked_file_is_unavailable_after_the_wait(tmp_path: Path) -> None:
    """The front answers 503 then; it does not hang."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    holder, waiter = connect(url), connect(url, wait_seconds=0.1)
    with holder.write(), pytest.raises(DatabaseUnavailable, match="locked"), waiter.write():
        pass
    holder.close()
    waiter.close()


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """It holds documents; rights that its owner gave later stay."""
    file = tmp_path / "hss.db"
    database = connect(f"sqlite:///{file}")
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x)")
    modes = {part.stat().st_mode & 0o777 for part in tmp_path.iterdir()}
    database.close()
    file.chmod(0o640)
    with database.read() as connection:
        connection.exec_driver_sql("SELECT x FROM t")
    database.close()
    assert (modes, file.stat().st_mode & 0o777) == ({0o600}, 0o640)


def test_no_new_file_is_made_where_one_was_deleted(tmp_path: Path) -> None:
    """A connection beyond those that are open would begin with an empty database."""
    file = tmp_path / "hss.db"
    database = connect(f"sqlite:///{file}")
    upgrade(database)
    with database.read() as held:
        assert held.execute(sa.text("SELECT 1")).scalar_one() == 1
        file.unlink()
        with pytest.raises(DatabaseUnavailable, match="deleted"), database.read():
            pass
    assert not file.exists()
    database.close()
    with pytest.raises(DatabaseUnavailable, match="deleted"), database.write():
        pass
    assert not file.exists()


def test_a_deleted_file_is_unavailable(tmp_path: Path) -> None:
    """SQLite goes on in the deleted file: what was answered with 200 would be gone at the end."""
    file = tmp_path / "hss.db"
    database = connect(f"sqlite:///{file}")
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x)")
    file.unlink()
    with pytest.raises(DatabaseUnavailable, match="deleted"), database.write() as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES (1)")
    assert not file.exists()
    database.close()


def test_a_backup_that_is_put_in_place_is_read(tmp_path: Path) -> None:
    """An open connection would read and write the file that it replaced."""
    for name in ("hss.db", "backup.db"):
        database = connect(f"sqlite:///{tmp_path / name}")
        with database.write() as connection:
            connection.exec_driver_sql("CREATE TABLE t AS SELECT '" + name + "' AS x")
        database.close()
    database = connect(f"sqlite:///{tmp_path / 'hss.db'}")
    seen = []
    for _ in range(2):
        with database.read() as connection:
            seen.append(connection.exec_driver_sql("SELECT x FROM t").scalar_one())
        if len(seen) == 1:
            (tmp_path / "hss.db-wal").unlink()
            (tmp_path / "backup.db").replace(tmp_path / "hss.db")
    database.close()
    assert seen == ["hss.db", "backup.db"]


def test_a_reader_does_not_wait_for_the_writer(database: Database) -> None:
    """Pages and gauges answer while a scorer writes."""
    with database.write() as writer:
        writer.execute(sa.text("INSERT INTO meta (key, value) VALUES ('a', 'b')"))
        with database.read() as reader:
            assert reader.execute(sa.text("SELECT count(*) FROM meta")).scalar_one() == 0


def test_an_error_never_quotes_what_was_to_be_stored(database: Database) -> None:
    """Statements carry documents; tracebacks end up in logs."""
    statement = sa.insert(records).values(id="a", document="a secret document")
    with pytest.raises(sa.exc.IntegrityError) as caught, database.write() as connection:
        connection.execute(statement)
    assert "a secret document" not in str(caught.value).split("DETAIL")[0]
    with database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(records)).scalar() == 0


def test_sqlite_is_set_up_to_lose_nothing(tmp_path: Path) -> None:
    """WAL, full synchronization, foreign keys, overwritten deletions, shrinkable file."""
    database = connect(f"sqlite:///{tmp_path / 'x.db'}")
    upgrade(database)
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "auto_vacuum": 2,
    }
    with database.read() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted}
    database.close()
    assert found == wanted


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("claim", "ix_records_open"),
        ("list", "ix_records_received"),
        ("series", "ix_records_series"),
        ("state", "ix_records_state"),
    ],
)
def test_queries_are_backed_by_an_index(
    database: Database, clock: Any, statement: str, index: str
) -> None:
    """None of them may slow down with the size of the table."""
    if not database.is_sqlite:
        pytest.skip("PostgreSQL plans by statistics, which an empty table does not have")
    newest = (
        sa.select(*ROW_COLUMNS)
        .select_from(records.outerjoin(scores))
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        .limit(50)
    )
    one_series = (records.c.service == "s", records.c.model == "m", records.c.category == "c")
    chosen = {
        "claim": claimable(clock.now, 5, seconds=60),
        "list": newest,
        "series": newest.where(*one_series),
        "state": newest.where(records.c.state == RecordState.FAILED),
    }[statement]
    text = chosen.compile(database.engine, compile_kwargs={"literal_binds": True})
    with database.read() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}").all()
    steps = " / ".join(row[-1] for row in plan)
    assert index in steps
    assert "TEMP B-TREE" not in steps
