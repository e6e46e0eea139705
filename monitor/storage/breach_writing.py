"""Write what an evaluation found out about breaches, beside what people wrote."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from monitor.findings import BreachDetail, BreachRow
from monitor.storage import breach_rows
from monitor.storage.finding_tables import breach_contributors, breaches
from monitor.storage.upsert import upsert


def save_breaches(connection: Connection, opened: Sequence[BreachRow]) -> None:
    """New ones open, open ones go on or end, ended ones stay as they are."""
    rows = [breach_rows.breach_columns(breach) for breach in opened]
    keep = {*breach_rows.PEOPLES, "opened_at", "exceeded_since"}
    upsert(connection, breaches, rows, keep=keep, where=breaches.c.state == "open")


def save_contributors(connection: Connection, detail: BreachDetail) -> None:
    """The new list; those of the former one that somebody marked are kept behind it."""
    key, names = detail.breach.id, {each.record_id for each in detail.contributors}
    former = sa.select(breach_contributors.c.record_id, breach_contributors.c.mark).where(
        breach_contributors.c.breach_id == key
    )
    gone = [
        row
        for row in connection.execute(former.order_by(breach_contributors.c.place))
        if row.record_id not in names
    ]
    dropped = [row.record_id for row in gone if row.mark is None]
    if dropped:
        connection.execute(
            sa.delete(breach_contributors).where(
                breach_contributors.c.breach_id == key,
                breach_contributors.c.record_id.in_(dropped),
                # Somebody may have marked it since.
                breach_contributors.c.mark.is_(None),
            )
        )
    rows = [breach_rows.contributor_row(key, each) for each in detail.contributors]
    upsert(connection, breach_contributors, rows, keep=breach_rows.PEOPLES)
    marked = [row.record_id for row in gone if row.mark is not None]
    for place, record_id in enumerate(marked, start=len(rows) + 1):
        connection.execute(
            sa.update(breach_contributors)
            .where(
                breach_contributors.c.breach_id == key,
                breach_contributors.c.record_id == record_id,
            )
            .values(place=place)
        )
