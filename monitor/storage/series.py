"""Which series there are, up to where their records are complete, and how long they wait.

A series is a service, a model and a category as it was decided when the record was scored:
`coalesce(category, '')`. Before that a record may belong to any category of its service and
model, so until it is final all of them wait for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from monitor.findings import Series
from monitor.storage.engine import Database
from monitor.storage.finding_tables import IS_FINISHED
from monitor.storage.signal_columns import of_category, of_names
from monitor.storage.tables import IS_OPEN, records

_ARRIVAL: Final = timedelta(seconds=2)
"""What a front may take from noting the arrival of a record to its commit."""


def list_series(
    database: Database, *, since: datetime | None = None, limit: int = 200
) -> list[tuple[Series, int]]:
    """Series with the number of their records that were finished at or after `since`,
    busiest first."""
    category: sa.ColumnElement[str] = sa.func.coalesce(records.c.category, "", type_=sa.Text())
    count = sa.func.count()
    statement = (
        sa.select(records.c.service, records.c.model, category, count)
        .where(sa.text(IS_FINISHED))
        .group_by(records.c.service, records.c.model, category)
        .order_by(count.desc(), records.c.service, records.c.model, category)
        .limit(limit)
    )
    if since is not None:
        statement = statement.where(records.c.finished_at >= since)
    with database.read() as connection:
        return [
            (Series(service=service, model=model, category=category), int(found))
            for service, model, category, found in connection.execute(statement)
        ]


def finished_until(database: Database, series: Series, *, now: datetime) -> datetime:
    """Up to where, exclusively, the records of a series in the order (received_at, id) are
    complete: no record that was received before can still be added to them.

    The arrival of the oldest record that is not final and may belong to the series, else now
    minus 2 s, because a record is stored a moment after the arrival that it notes.
    """
    with database.read() as connection:
        oldest = _oldest_waiting(connection, series, undecided=True)
        if series.category:
            decided = _oldest_waiting(connection, series, undecided=False)
            oldest = min((time for time in (oldest, decided) if time is not None), default=None)
    latest = now - _ARRIVAL
    return latest if oldest is None else min(oldest, latest)


def minutes_unscored(database: Database, series: Series, *, now: datetime) -> float | None:
    """For how many minutes records have waited without any being finished; 0 where none waits.

    For records whose category is known: since the later of the series' last finished record
    and the arrival of its oldest waiting one. Waiting records without a category may become
    part of the series, too; for them any finished record of service and model counts as
    progress. The greater of both. None where the series has no record at all.
    """
    with database.read() as connection:
        waits = [_wait(connection, series, undecided=True, now=now)]
        if series.category:
            waits.append(_wait(connection, series, undecided=False, now=now))
        if waits == [0.0] * len(waits) and not _exists(connection, series):
            return None
    return max(waits)


def _wait(connection: sa.Connection, series: Series, *, undecided: bool, now: datetime) -> float:
    oldest = _oldest_waiting(connection, series, undecided=undecided)
    if oldest is None:
        return 0.0
    last = (
        sa.select(records.c.finished_at)
        .where(*of_names(series), records.c.finished_at >= oldest)
        .order_by(records.c.finished_at.desc())
        .limit(1)
    )
    if not undecided:
        last = last.where(records.c.category == series.category)
    latest = connection.execute(last).scalar_one_or_none()
    return max(0.0, (now - (latest or oldest)).total_seconds() / 60)


def _oldest_waiting(
    connection: sa.Connection, series: Series, *, undecided: bool
) -> datetime | None:
    """Arrival of the oldest record that is not final: of those without a category, or of
    those with the category of the series."""
    times = [
        connection.execute(
            sa.select(sa.func.min(records.c.received_at)).where(
                sa.text(IS_OPEN), *of_names(series), category
            )
        ).scalar_one()
        for category in of_category("" if undecided else series.category)
    ]
    return min((time for time in times if time is not None), default=None)


def _exists(connection: sa.Connection, series: Series) -> bool:
    return any(
        connection.execute(
            sa.select(records.c.id).where(*of_names(series), category).limit(1)
        ).first()
        for category in of_category(series.category)
    )
