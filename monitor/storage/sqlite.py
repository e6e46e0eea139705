"""What SQLite needs beside its driver: lasting settings, transactions, and an eye on its file.

SQLite runs with a write-ahead log: readers never wait for the writer. `synchronous=FULL`
and not NORMAL: NORMAL survives a killed process too, but loses the last commits when the
machine loses power, and what was answered with 200 is promised to be durable. The price
is one fsync for each batch that comes in, not for each record.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from monitor.errors import DatabaseUnavailable

# An execution option of our own: SQLAlchemy's AUTOCOMMIT would, when it is reset, hand the
# beginning of transactions back to the SQLite driver.
TRANSACTION = "hss_transaction"
_WAL_ATTEMPTS = 100


def watch_file(engine: Engine, path: Path) -> None:
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


def prepare(connection: sqlite3.Connection, record: object) -> None:
    """Set up each new connection; a new file also gets its lasting settings."""
    # Transactions are begun by `begin`, not by the driver's guess.
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


def begin(connection: Connection) -> None:
    """Begin a transaction of the kind that its execution options name."""
    kind = connection.get_execution_options().get(TRANSACTION, "read")
    if kind != "none":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if kind == "write" else "BEGIN")
