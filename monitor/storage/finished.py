"""Finished records, each handed once to the front that counts it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from monitor.ports import Clock
from monitor.records import FinishedRecord
from monitor.storage.engine import Database
from monitor.storage.tables import IS_UNOBSERVED, records, scores


def take_unobserved(
    database: Database, front: str, *, limit: int, clock: Clock
) -> list[FinishedRecord]:
    """Final records of a front that it has not counted yet, oldest end first.

    They are marked in the same transaction, so each is returned once in its life:
    after a restart counting goes on where it stopped.
    """
    ends = (
        sa.select(records.c.id)
        .where(sa.text(IS_UNOBSERVED), records.c.front == front)
        .order_by(records.c.finished_at, records.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    with database.write() as connection:
        ids = list(connection.execute(ends).scalars())
        if not ids:
            return []
        connection.execute(
            sa.update(records).where(records.c.id.in_(ids)).values(observed_at=clock())
        )
        rows = connection.execute(
            sa.select(*_finished_columns())
            .select_from(records.outerjoin(scores))
            .where(records.c.id.in_(ids))
            .order_by(records.c.finished_at, records.c.id)
        ).mappings()
        return [
            FinishedRecord(**{**row, "stage_seconds": row["stage_seconds"] or {}}) for row in rows
        ]


def _finished_columns() -> list[sa.ColumnElement[Any]]:
    """The columns of `FinishedRecord`, by its fields; what a record has itself comes from there."""
    category: sa.ColumnElement[Any] = sa.func.coalesce(records.c.category, "").label("category")
    names = [name for name in FinishedRecord.__slots__ if name != "category"]
    return [category, *((records if name in records.c else scores).c[name] for name in names)]
