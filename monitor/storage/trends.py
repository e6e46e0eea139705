"""How one signal of one series ran through a stretch of time.

Weighted by 1/π and summed up in the database, like `distributions`: what comes back are buckets,
not records. Variances are clustered by trace, as in `windows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import sqrt
from typing import Final

import sqlalchemy as sa

from monitor.findings import Series
from monitor.storage.clockwork import floor_of, seconds_of
from monitor.storage.distributions import MAX_RECORDS, Stretch
from monitor.storage.engine import Database
from monitor.storage.signal_columns import newest, require_columns
from monitor.storage.student import t_quantile
from monitor.storage.tables import records

BUCKETS: Final = 60
LEAST_TRACES: Final = 5
"""Of fewer an interval would be wider than its picture, or a lie."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrendPoint:
    """The records of one bucket of time."""

    at: datetime
    """Middle of the bucket."""
    mean: float
    low: float | None
    """95 % interval of the mean; None with fewer than `LEAST_TRACES` traces."""
    high: float | None
    records: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Trend:
    """The mean of a signal through a stretch; buckets without records are left out."""

    stretch: Stretch
    points: tuple[TrendPoint, ...]
    complete: bool
    """False: only the newest `MAX_RECORDS` of the stretch."""


def trend(
    database: Database,
    series: Series,
    signal: str,
    stretch: Stretch,
    *,
    buckets: int = BUCKETS,
    limit: int = MAX_RECORDS,
) -> Trend:
    """The signal's mean in `buckets` equal parts of the stretch.

    Raises `UsageError` for a signal that single records do not have.
    """
    require_columns(signal)
    at = seconds_of(database, records.c.received_at).label("at")
    trace = sa.func.coalesce(records.c.trace_id, records.c.id).label("trace")
    source = newest(
        series, signal, (at, trace), since=stretch.since, until=stretch.until, limit=limit
    )
    start = stretch.since.timestamp()
    width = (stretch.until - stretch.since).total_seconds() / buckets
    traces = (
        sa.select(
            floor_of(database, (source.c.at - start) / width).label("bucket"),
            sa.func.count().label("n"),
            sa.func.sum(source.c.weight * source.c.value).label("a"),
            sa.func.sum(source.c.weight).label("b"),
        )
        .group_by(sa.text("1"), source.c.trace)
        .subquery()
    )
    a, b = traces.c.a, traces.c.b
    statement = (
        sa.select(
            traces.c.bucket,
            sa.func.sum(traces.c.n),
            sa.func.count(),
            *(sa.func.sum(part) for part in (a, b, a * a, a * b, b * b)),
        )
        .group_by(traces.c.bucket)
        .order_by(traces.c.bucket)
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
    points = tuple(
        _point(datetime.fromtimestamp(start + (bucket + 0.5) * width, UTC), *sums)
        for bucket, *sums in rows
    )
    complete = sum(point.records for point in points) < limit
    return Trend(stretch=stretch, points=points, complete=complete)


def _point(
    at: datetime,
    count: int,
    clusters: int,
    total: float,
    weight: float,
    aa: float,
    ab: float,
    bb: float,
) -> TrendPoint:
    """From sums over the traces c of a bucket: A_c = Σ w x, B_c = Σ w, and their products."""
    mean = total / weight
    margin = None
    if clusters >= LEAST_TRACES:
        # Σ (A_c - m B_c)², multiplied out; rounding may leave it just below zero.
        spread = max(0.0, aa - 2 * mean * ab + mean * mean * bb)
        variance = clusters / (clusters - 1) * spread / weight**2
        margin = t_quantile(clusters - 1) * sqrt(variance)
    return TrendPoint(
        at=at,
        mean=mean,
        low=None if margin is None else mean - margin,
        high=None if margin is None else mean + margin,
        records=int(count),
    )
