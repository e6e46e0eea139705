"""Insert rows, or bring those with the same primary key up to date, on either database."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite


def upsert(
    connection: Connection,
    table: sa.Table,
    rows: list[dict[str, Any]],
    *,
    keep: Collection[str] = (),
    where: sa.ColumnElement[bool] | None = None,
) -> None:
    """Write all rows; columns in `keep` are written by an insertion only.

    With `where` an existing row is updated only where it is true. Rows are written in the
    order of their keys, so that two writers never wait for each other in a circle.
    """
    if not rows:
        return
    keys = [column.name for column in table.primary_key.columns]
    insert = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)
    given = {name: insert.excluded[name] for name in rows[0] if name not in {*keys, *keep}}
    if given:
        statement = insert.on_conflict_do_update(index_elements=keys, set_=given, where=where)
    else:
        statement = insert.on_conflict_do_nothing(index_elements=keys)
    connection.execute(statement, sorted(rows, key=lambda row: tuple(row[key] for key in keys)))
