"""Prune findings: they live by their own times, not by those of the records.

A breach goes when it was resolved before the given time, with its contributors; an open one
never. Changes of drift go by their time. States and verdicts are about the present: they go when
their series has no record any more, except that a threshold's state stays while a breach of it
is stored, because its `number` names the next one.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from monitor.storage.engine import Database
from monitor.storage.finding_tables import (
    breaches,
    drift_changes,
    drift_findings,
    threshold_states,
    watch_states,
)
from monitor.storage.tables import records


def prune_findings(database: Database, before: datetime) -> int:
    """Delete what has ended before; how many breaches went. Safe to repeat."""
    ended = sa.delete(breaches).where(breaches.c.resolved_at < before).returning(breaches.c.id)
    same_threshold = (
        breaches.c.service == threshold_states.c.service,
        breaches.c.model == threshold_states.c.model,
        breaches.c.category == threshold_states.c.category,
        breaches.c.threshold == threshold_states.c.threshold,
    )
    with database.write() as connection:
        gone = len(connection.execute(ended).all())
        connection.execute(sa.delete(drift_changes).where(drift_changes.c.at < before))
        for table in (watch_states, drift_findings):
            connection.execute(sa.delete(table).where(_orphaned(table)))
        connection.execute(
            sa.delete(threshold_states).where(
                _orphaned(threshold_states),
                ~sa.exists().where(*same_threshold),
            )
        )
    return gone


def _orphaned(table: sa.Table) -> sa.ColumnElement[bool]:
    """No record of the row's series is left."""
    return ~sa.exists().where(
        records.c.service == table.c.service,
        records.c.model == table.c.model,
        sa.func.coalesce(records.c.category, "") == table.c.category,
    )
