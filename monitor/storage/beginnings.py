"""Ids by their beginnings: people type and copy less than the whole."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from monitor.storage.engine import Database
from monitor.storage.finding_tables import breaches
from monitor.storage.tables import records

NAMED: Final = 3
"""So many ids that begin alike are looked for."""


def record_ids(database: Database, beginning: str) -> list[str]:
    """The record of this id; else the first `NAMED` ids that begin so, by name."""
    return _ids(database, records.c.id, beginning)


def breach_ids(database: Database, beginning: str) -> list[str]:
    """The breach of this id; else the first `NAMED` ids that begin so, by name."""
    return _ids(database, breaches.c.id, beginning)


def _ids(database: Database, column: sa.Column[str], beginning: str) -> list[str]:
    if not beginning:
        return []
    # Not LIKE: SQLite's takes a for A. Not a range: a server's collation may order otherwise.
    begins = sa.func.substr(column, 1, len(beginning)) == beginning
    with database.read() as connection:
        whole = list(connection.execute(sa.select(column).where(column == beginning)).scalars())
        found = sa.select(column).where(begins).order_by(column).limit(NAMED)
        return whole or list(connection.execute(found).scalars())
