"""How one signal of one series was spread over stretches of time, and how it ran through one.

Everything is weighted by 1/π and summed up in the database: what comes back are bins and
buckets, not records. Variances are clustered by trace, as in `windows`. A stretch with more records
than `MAX_RECORDS` is answered from its newest ones, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import sqrt
from typing import Final

import sqlalchemy as sa

from monitor.errors import UsageError
from monitor.findings import Series
from monitor.storage.clockwork import floor_of, seconds_of
from monitor.storage.engine import Database
from monitor.storage.signal_columns import SKIPPED, has_columns, newest
from monitor.storage.student import t_quantile
from monitor.storage.tables import records

MAX_RECORDS: Final = 4000
BINS: Final = 24
BUCKETS: Final = 60
LEAST_TRACES: Final = 5
"""Of fewer an interval would be wider than its picture, or a lie."""
_SIGNED: Final = frozenset({"excess", "summac"})
_UNBOUNDED: Final = frozenset(
    {"raw_distance", "null_distance", "observed_distance", "document_words", "summary_words"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """[since, until)."""

    since: datetime
    until: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """The values of one stretch, in bins of equal width over [low, high]."""

    stretch: Stretch
    low: float
    high: float
    shares: tuple[float, ...]
    """Σ 1/π of each bin over that of all; sums to 1, or is empty without records."""
    mean: float | None
    records: int
    complete: bool
    """False: only the newest `MAX_RECORDS` of the stretch."""


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


def distributions(
    database: Database,
    series: Series,
    signal: str,
    stretches: Sequence[Stretch],
    *,
    first_release: str | None = None,
    bins: int = BINS,
    limit: int = MAX_RECORDS,
) -> list[Distribution]:
    """One distribution for each stretch, all over the same bins.

    `first_release` leaves out what the first stretch holds of other releases.
    Raises `UsageError` for a signal that single records do not have.
    """
    _check(signal)
    sources = [
        newest(
            series,
            signal,
            (),
            since=each.since,
            until=each.until,
            release=None if place else first_release,
            limit=limit,
        )
        for place, each in enumerate(stretches)
    ]
    with database.read() as connection:
        sums = []
        for source in sources:
            value, weight = source.c.value, source.c.weight
            row = connection.execute(
                sa.select(
                    sa.func.count(),
                    sa.func.min(value),
                    sa.func.max(value),
                    sa.func.sum(weight),
                    sa.func.sum(weight * value),
                )
            ).one()
            sums.append(row)
        low, high = _range(signal, [(row[1], row[2]) for row in sums if row[0]])
        found = []
        for each, source, (count, _, _, total, weighted) in zip(
            stretches, sources, sums, strict=True
        ):
            shares = [0.0] * bins if count else []
            place = (source.c.value - low) / (high - low) * bins
            number = sa.case(
                (source.c.value <= low, 0),
                (source.c.value >= high, bins - 1),
                else_=floor_of(database, place),
            ).label("bin")
            counts = sa.select(number, sa.func.sum(source.c.weight)).group_by(sa.text("1"))
            for at, weight in connection.execute(counts) if count else ():
                # Rounding may put a value just below the end into a bin behind it.
                shares[min(at, bins - 1)] += weight / total
            found.append(
                Distribution(
                    stretch=each,
                    low=low,
                    high=high,
                    shares=tuple(shares),
                    mean=weighted / total if count else None,
                    records=count,
                    complete=count < limit,
                )
            )
    return found


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
    _check(signal)
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
    points = []
    with database.read() as connection:
        rows = connection.execute(statement).all()
    for bucket, count, clusters, total, weight, aa, ab, bb in rows:
        mean = total / weight
        margin = None
        if clusters >= LEAST_TRACES:
            # Σ (A_c - m B_c)², multiplied out; rounding may leave it just below zero.
            spread = max(0.0, aa - 2 * mean * ab + mean * mean * bb)
            variance = clusters / (clusters - 1) * spread / weight**2
            margin = t_quantile(clusters - 1) * sqrt(variance)
        middle = datetime.fromtimestamp(start + (bucket + 0.5) * width, UTC)
        points.append(
            TrendPoint(
                at=middle,
                mean=mean,
                low=None if margin is None else mean - margin,
                high=None if margin is None else mean + margin,
                records=int(count),
            )
        )
    complete = sum(point.records for point in points) < limit
    return Trend(stretch=stretch, points=tuple(points), complete=complete)


def _check(signal: str) -> None:
    if not has_columns(signal):
        raise UsageError(f"signal: {signal!r} belongs to no single record; it has no distribution")


def _range(signal: str, found: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """What the bins span: [0, 1] where values lie there, else what was found."""
    least = min((low for low, _ in found), default=0.0)
    greatest = max((high for _, high in found), default=1.0)
    if signal == SKIPPED or signal not in _SIGNED | _UNBOUNDED:
        return 0.0, 1.0
    low = least if signal in _SIGNED else 0.0
    return (low, greatest) if greatest > low else (low, low + 1.0)
