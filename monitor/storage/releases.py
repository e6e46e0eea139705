"""Which models and releases answered in a stretch of time: what changed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from monitor.findings import Series
from monitor.storage.distributions import Stretch
from monitor.storage.engine import Database
from monitor.storage.signal_columns import of_series
from monitor.storage.tables import records

MAX_RECORDS: Final = 4000
"""Newest records of a series that are looked at in a stretch."""
MAX_SERIES: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseCount:
    """One release of one model within a stretch."""

    model: str
    release: str | None
    records: int
    first_at: datetime
    last_at: datetime


def release_counts(
    database: Database, series: Sequence[Series], stretch: Stretch
) -> list[ReleaseCount]:
    """How many sampled records came from each model and release of some series.

    At most `MAX_SERIES` series and `MAX_RECORDS` records of each; ordered by model, then by the
    first record.
    """
    if not series:
        return []
    parts = [
        sa.select(records.c.model, records.c.release, records.c.received_at)
        .where(
            *of_series(each),
            records.c.received_at >= stretch.since,
            records.c.received_at < stretch.until,
        )
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        .limit(MAX_RECORDS)
        .subquery()
        for each in series[:MAX_SERIES]
    ]
    found = sa.union_all(*(sa.select(part) for part in parts)).subquery()
    first = sa.func.min(found.c.received_at)
    statement = (
        sa.select(
            found.c.model,
            found.c.release,
            sa.func.count().label("records"),
            first.label("first_at"),
            sa.func.max(found.c.received_at).label("last_at"),
        )
        .group_by(found.c.model, found.c.release)
        .order_by(found.c.model, first)
    )
    with database.read() as connection:
        return [ReleaseCount(**row) for row in connection.execute(statement).mappings()]
