"""How one signal of one series was spread over stretches of time.

Everything is weighted by 1/π and summed up in the database: what comes back are bins, not
records. A stretch with more records than `MAX_RECORDS` is answered from its newest ones, and the
answer says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from monitor.findings import Series
from monitor.storage.clockwork import floor_of
from monitor.storage.engine import Database
from monitor.storage.signal_columns import SKIPPED, newest, require_columns

MAX_RECORDS: Final = 4000
BINS: Final = 24
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
    require_columns(signal)
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
        sums = [_sums(connection, source) for source in sources]
        low, high = _range(signal, [(least, most) for count, least, most, *_ in sums if count])
        found = []
        for each, source, (count, _, _, total, weighted) in zip(
            stretches, sources, sums, strict=True
        ):
            number = _bin(database, source.c.value, low, high, bins)
            masses = _masses(connection, source, number, bins) if count else []
            found.append(
                Distribution(
                    stretch=each,
                    low=low,
                    high=high,
                    shares=tuple(mass / total for mass in masses),
                    mean=weighted / total if count else None,
                    records=count,
                    complete=count < limit,
                )
            )
    return found


def _sums(connection: sa.Connection, source: sa.Subquery) -> sa.Row[int, Any, Any, Any, Any]:
    """How many records, their least and greatest value, Σ w and Σ w x."""
    value, weight = source.c.value, source.c.weight
    return connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.min(value),
            sa.func.max(value),
            sa.func.sum(weight),
            sa.func.sum(weight * value),
        )
    ).one()


def _bin(
    database: Database, value: sa.ColumnElement[Any], low: float, high: float, bins: int
) -> sa.ColumnElement[Any]:
    """The number of the bin that a value lies in; what is beyond the range is at its ends."""
    return sa.case(
        (value <= low, 0),
        (value >= high, bins - 1),
        else_=floor_of(database, (value - low) / (high - low) * bins),
    )


def _masses(
    connection: sa.Connection, source: sa.Subquery, number: sa.ColumnElement[Any], bins: int
) -> list[float]:
    """Σ w of each bin."""
    masses = [0.0] * bins
    counts = sa.select(number.label("bin"), sa.func.sum(source.c.weight)).group_by(sa.text("1"))
    for at, weight in connection.execute(counts):
        # Rounding may put a value just below the end into a bin behind it.
        masses[min(at, bins - 1)] += weight
    return masses


def _range(signal: str, found: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """What the bins span: [0, 1] where values lie there, else what was found."""
    least = min((low for low, _ in found), default=0.0)
    greatest = max((high for _, high in found), default=1.0)
    if signal == SKIPPED or signal not in _SIGNED | _UNBOUNDED:
        return 0.0, 1.0
    low = least if signal in _SIGNED else 0.0
    return (low, greatest) if greatest > low else (low, low + 1.0)
