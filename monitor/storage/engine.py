"""Open a database by its URL, and speak to it in whole transactions.

SQLite runs with a write-ahead log: readers never wait for the writer. `synchronous=FULL`
and not NORMAL: NORMAL survives a killed process too, but loses the last commits when the
machine loses power, and what was answered with 200 is promised to be durable. The price
is one fsync for each batch that comes in, not for each record.

Parameters of statements are hidden from every error: they hold documents.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    DisconnectionError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from monitor.errors import ConfigurationError, DatabaseUnavailable, DependencyUnavailable, choices

_SCHEMES = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
# An execution option of our own: SQLAlchemy's AUTOCOMMIT would, when it is reset, hand the
# beginning of transactions back to the SQLite driver.
_TRANSACTION = "hss_transaction"
_WAL_ATTEMPTS = 100


class Database:
    """An open database; may be used from many threads, never across a fork.

    Nothing is connected before the first transaction. A process that spawns another hands
    it the URL, not this.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(**{_TRANSACTION: "write"})
        self._loose = engine.execution_options(
            **{_TRANSACTION: "none"} if self.is_sqlite else {"isolation_level": "AUTOCOMMIT"}
        )

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def url(self) -> str:
        """For people: without the password."""
        # Drivers take a password from the query, too, and that is not hidden.
        url = self.engine.url.difference_update_query(("password", "sslpassword"))
        return url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent look at the data (on PostgreSQL: at each statement's time).

        Raises `DatabaseUnavailable` where the database does not answer.
        """
        with _translated(self), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction, committed on leaving and rolled back on an error.

        On SQLite it takes the write lock at once (`BEGIN IMMEDIATE`): a transaction that
        reads first and writes later could otherwise fail halfway through.
        Raises `DatabaseUnavailable` where the database does not answer or stays locked.
        """
        with _translated(self), self._writing.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def autocommit(self) -> Iterator[Connection]:
        """No transaction at all, for what refuses to run in one (VACUUM, checkpoints)."""
        with _translated(self), self._loose.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()


def connect(url: str, *, pool_size: int = 5, wait_seconds: float = 10.0) -> Database:
    """Open `sqlite:///file.db` or `postgresql://user@host/name`.

    `wait_seconds` bounds each wait: for a free connection, for SQLite's write lock, for
    PostgreSQL to accept a connection.

    Raises:
        ConfigurationError: the URL is of another kind, or names no file.
        DependencyUnavailable: the driver is not installed.
    """
    parsed = _parse(url)
    options: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": pool_size,
        "max_overflow": pool_size,
        "pool_timeout": wait_seconds,
    }
    if parsed.get_backend_name() == "sqlite":
        # The driver's statement cache keeps the bound values too: of large batches, megabytes
        # for each of 128 statements a connection.
        options["connect_args"] = {"timeout": wait_seconds, "cached_statements": 0}
    else:
        options["pool_pre_ping"] = True
        options["connect_args"] = {
            "connect_timeout": max(2, round(wait_seconds)),
            "application_name": "hss-monitor",
            # Server-side prepared statements break behind a pooler such as pgbouncer.
            "prepare_threshold": None,
        }
    try:
        engine = sa.create_engine(parsed, **options)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise DependencyUnavailable(
            f"database.url: no driver for {parsed.get_backend_name()!r} is installed "
            f"({error}); install hss-monitor[postgres]"
        ) from error
    if parsed.get_backend_name() == "sqlite":
        _watch_file(engine, Path(str(parsed.database)).absolute())
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return Database(engine)


def require_file(url: str) -> None:
    """For those that only look: raises `DatabaseUnavailable` where a SQLite file is missing.

    SQLite itself would make an empty one.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() == "sqlite":
        path = Path(str(parsed.database)).absolute()
        if not path.exists():
            raise DatabaseUnavailable(
                f"database.url: there is no file {path}; `hss-monitor run` makes it, "
                "or name the one that is meant"
            )


def _parse(url: str) -> URL:
    scheme = url.split(":", 1)[0]
    if scheme not in _SCHEMES:
        raise ConfigurationError(
            f"database.url: {scheme!r} is not supported; use {choices(['sqlite', 'postgresql'])}, "
            "as in sqlite:///hss-monitor.db or postgresql://user@host/name"
        )
    try:
        parsed = sa.make_url(url).set(drivername=_SCHEMES[scheme])
    except (ArgumentError, ValueError):
        # The original message may quote the password.
        raise ConfigurationError(
            "database.url: cannot be read as a URL; "
            "write sqlite:///hss-monitor.db or postgresql://user@host/name"
        ) from None
    if scheme.startswith("sqlite"):
        if parsed.database in (None, "", ":memory:"):
            raise ConfigurationError(
                "database.url: a database in memory cannot be shared by the processes of the "
                "sidecar; name a file, as in sqlite:///hss-monitor.db"
            )
        folder = Path(str(parsed.database)).resolve().parent
        if not folder.is_dir():
            raise ConfigurationError(f"database.url: the folder {folder} is missing; create it")
    return parsed


def _watch_file(engine: Engine, path: Path) -> None:
    """Notice before each transaction that the file was deleted, or replaced by a backup.

    SQLite does not: it would write to the deleted file without a complaint, and all that was
    promised to be durable would be gone with the process. Nor may a further connection make a new
    file where the old one was: it would begin with nothing, and nobody would be told.
    """
    deleted = (
        f"database {path}: its file was deleted; stop the sidecar, put it back together with its "
        "-wal file, and start again"
    )
    seen = False

    def present() -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def opening(*_: object) -> None:
        if seen and present() is None:
            raise DatabaseUnavailable(deleted)

    def opened(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        nonlocal seen
        record.info["file"] = present()
        seen = True

    def taken(
        connection: sqlite3.Connection, record: ConnectionPoolEntry, proxy: PoolProxiedConnection
    ) -> None:
        known, now = record.info["file"], present()
        if known is None or known == now:
            return
        if now is None:
            raise DatabaseUnavailable(deleted)
        raise DisconnectionError("another file stands in its place")  # so open that one

    event.listen(engine, "do_connect", opening)
    event.listen(engine, "connect", opened)
    event.listen(engine, "checkout", taken)


def _prepare_sqlite(connection: sqlite3.Connection, record: object) -> None:
    """Set up each new connection; a new file also gets its lasting settings."""
    # Transactions are begun by `_begin_sqlite`, not by the driver's guess.
    connection.isolation_level = None
    if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
        # Only before the first table; `retention` cannot give freed pages back otherwise.
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        # It will hold documents. Who else is to read it is for its owner to say; the log beside
        # it gets the same rights from SQLite.
        with suppress(OSError):
            Path(connection.execute("PRAGMA database_list").fetchone()[2]).chmod(0o600)
    _enter_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    # An erased text is overwritten, not only unlinked.
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA journal_size_limit=67108864")


def _enter_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log once; it stays with the file.

    The switch does not wait by `busy_timeout` when several processes open a new file at
    once, so it is tried again here.
    """
    for attempt in range(_WAL_ATTEMPTS):
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt + 1 == _WAL_ATTEMPTS:
                raise
            time.sleep(0.05)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    kind = connection.get_execution_options().get(_TRANSACTION, "read")
    if kind != "none":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if kind == "write" else "BEGIN")


@contextmanager
def _translated(database: Database) -> Iterator[None]:
    """Say `DatabaseUnavailable` for what the driver says about a lost or locked database."""
    try:
        yield
    except (DatabaseError, InterfaceError, PoolTimeout) as error:
        # The bare class is SQLite's word for a file that is damaged or no database at all;
        # its other kinds (a broken constraint, a wrong statement) are defects of ours, unless
        # the server gives them as the reason why it ended the session.
        lost = isinstance(error, DBAPIError) and error.connection_invalidated
        if (
            isinstance(error, DatabaseError)
            and type(error) not in {DatabaseError, OperationalError}
            and not lost
        ):
            raise
        cause = error.orig if isinstance(error, DBAPIError) else error
        words = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
        raise DatabaseUnavailable(
            f"database {database.url}: {words}; check that it runs and can be written"
        ) from error
