"""What the overview shows of every series: how it stands and how its HSS ran.

One pass over the newest records of a window, at most `MAX_RECORDS` of them: on a busy
installation the answer is about fewer hours, and says from when on. It never depends on how
much is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from monitor.findings import Series
from monitor.records import RecordState
from monitor.storage.clockwork import floor_of, seconds_of
from monitor.storage.engine import Database
from monitor.storage.tables import records, scores

MAX_RECORDS: Final = 20_000
BUCKETS: Final = 36
SHORTEST: Final = timedelta(minutes=5)
"""A window that began with its first record is not cut shorter than this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesCourse:
    """One series in the window."""

    series: Series
    states: Mapping[RecordState, int]
    """Records received in the window, by how they stand now."""
    means: tuple[float | None, ...]
    """Weighted mean HSS of each of `BUCKETS` equal parts of the window; None without one."""
    last_received_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Courses:
    """All series of a window."""

    since: datetime
    """From when on: from the first record of the window, or later where it holds too many."""
    until: datetime
    complete: bool
    """False: the window holds more records than are read."""
    series: tuple[SeriesCourse, ...]
    """By name."""


def window_start(
    database: Database, *, since: datetime, until: datetime, limit: int = MAX_RECORDS
) -> datetime:
    """`since`, or the arrival of the record that is the `limit`-th newest before `until`."""
    statement = (
        sa.select(records.c.received_at)
        .where(records.c.received_at >= since, records.c.received_at < until)
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        .offset(limit - 1)
        .limit(1)
    )
    with database.read() as connection:
        return connection.execute(statement).scalar_one_or_none() or since


def _first(database: Database, *, since: datetime, until: datetime) -> datetime:
    """When the first record of the window came in, so that a young installation sees more than
    the last part of a window; at least `SHORTEST` before its end."""
    first = sa.select(sa.func.min(records.c.received_at)).where(
        records.c.received_at >= since, records.c.received_at < until
    )
    with database.read() as connection:
        found = connection.execute(first).scalar_one()
    return since if found is None else max(since, min(found, until - SHORTEST))


def courses(
    database: Database,
    *,
    since: datetime,
    until: datetime,
    buckets: int = BUCKETS,
    limit: int = MAX_RECORDS,
) -> Courses:
    """Every series with a record received in [since, until)."""
    start = window_start(database, since=since, until=until, limit=limit)
    complete = start == since
    if complete:
        start = _first(database, since=since, until=until)
    width = (until - start).total_seconds() / buckets
    place = (seconds_of(database, records.c.received_at) - start.timestamp()) / width
    weight = 1.0 / records.c.probability
    statement = (
        sa.select(
            records.c.service,
            records.c.model,
            sa.func.coalesce(records.c.category, ""),
            records.c.state,
            floor_of(database, place),
            sa.func.count(),
            sa.func.sum(weight * scores.c.hss),
            sa.func.sum(sa.case((scores.c.hss.is_not(None), weight))),
            sa.func.max(records.c.received_at),
        )
        .select_from(records.outerjoin(scores))
        .where(records.c.received_at >= start, records.c.received_at < until)
        .group_by(sa.text("1, 2, 3, 4, 5"))
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
    return Courses(
        since=start,
        until=until,
        complete=complete,
        series=_by_series(rows, buckets),
    )


def _by_series(rows: Sequence[Any], buckets: int) -> tuple[SeriesCourse, ...]:
    """From one row for each series, state and bucket."""
    states: dict[Series, dict[RecordState, int]] = {}
    sums: dict[Series, list[list[float]]] = {}
    latest: dict[Series, datetime] = {}
    for service, model, category, state, bucket, count, total, weights, last in rows:
        series = Series(service=service, model=model, category=category)
        counts = states.setdefault(series, {})
        counts[state] = counts.get(state, 0) + count
        parts = sums.setdefault(series, [[0.0, 0.0] for _ in range(buckets)])
        if weights:
            at = min(max(bucket, 0), buckets - 1)
            parts[at][0] += total
            parts[at][1] += weights
        latest[series] = max(last, latest.get(series, last))
    return tuple(
        SeriesCourse(
            series=series,
            states=states[series],
            means=tuple(value / mass if mass else None for value, mass in sums[series]),
            last_received_at=latest[series],
        )
        for series in sorted(states)
    )
