"""Open a database by its URL, and speak to it in whole transactions.

Parameters of statements are hidden from every error: they hold documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from monitor.errors import DatabaseUnavailable, DependencyUnavailable
from monitor.storage import sqlite
from monitor.storage.url import parse


class Database:
    """An open database; may be used from many threads, never across a fork.

    Nothing is connected before the first transaction. A process that spawns another hands
    it the URL, not this.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(**{sqlite.TRANSACTION: "write"})
        self._loose = engine.execution_options(
            **{sqlite.TRANSACTION: "none"} if self.is_sqlite else {"isolation_level": "AUTOCOMMIT"}
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
    PostgreSQL to accept a connection; three times as long is waited for a network that does not
    carry anything any more.

    Raises:
        ConfigurationError: the URL is of another kind, or names no file.
        DependencyUnavailable: the driver is not installed.
    """
    parsed = parse(url)
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
            # A network that swallows everything would hold a statement for a quarter of an hour
            # by the system's own timeouts, or for two hours where only the answer is lost.
            "tcp_user_timeout": round(3_000 * wait_seconds),
            "keepalives_idle": max(1, round(wait_seconds)),
            "keepalives_interval": max(1, round(wait_seconds)),
            "keepalives_count": 2,
        }
    try:
        engine = sa.create_engine(parsed, **options)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise DependencyUnavailable(
            f"database.url: no driver for {parsed.get_backend_name()!r} is installed "
            f"({error}); install hss-monitor[postgres]"
        ) from error
    if parsed.get_backend_name() == "sqlite":
        sqlite.watch_file(engine, Path(str(parsed.database)).absolute())
        event.listen(engine, "connect", sqlite.prepare)
        event.listen(engine, "begin", sqlite.begin)
    return Database(engine)


def require_file(url: str) -> None:
    """For those that only look: raises `DatabaseUnavailable` where a SQLite file is missing.

    SQLite itself would make an empty one.
    """
    parsed = parse(url)
    if parsed.get_backend_name() == "sqlite":
        path = Path(str(parsed.database)).absolute()
        if not path.exists():
            raise DatabaseUnavailable(
                f"database.url: there is no file {path}; `hss-monitor run` makes it, "
                "or name the one that is meant"
            )


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
        damaged = type(error) is DatabaseError
        remedy = (
            "put a backup in its place (deploy/docs/operations.md)"
            if damaged
            else "check that it runs and can be written"
        )
        raise DatabaseUnavailable(f"database {database.url}: {words}; {remedy}") from error
