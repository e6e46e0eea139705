"""Breaches page by page, by what they are of and when they were open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from monitor.findings import BreachRow
from monitor.storage import breach_rows
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.finding_tables import breaches
from monitor.storage.keyset import earlier
from monitor.storage.paging import check_limit, position_word, read_position


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachFilter:
    """Which breaches to list; what is None does not restrict."""

    service: str | None = None
    model: str | None = None
    category: str | None = None
    threshold: str | None = None
    state: str | None = None
    """`open` or `resolved`."""
    since: datetime | None = None
    """Open at this time or later."""
    until: datetime | None = None
    """Opened before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachPage:
    rows: tuple[BreachRow, ...]
    next: str | None
    """Give it as `after` for the rest; None at the end."""


def list_breaches(
    database: Database, wanted: BreachFilter, *, limit: int, after: str | None
) -> BreachPage:
    """As `SqlBreachStore.list_breaches` says."""
    check_limit(limit)
    statement = (
        sa.select(breaches)
        .where(*_terms(wanted))
        .order_by(breaches.c.opened_at.desc(), breaches.c.id.desc())
        .limit(limit + 1)
    )
    if after is not None:
        place = read_position(after)
        statement = statement.where(earlier(breaches.c.opened_at, breaches.c.id, place))
    with database.read() as connection:
        rows = [breach_rows.breach_row(row) for row in connection.execute(statement)]
    page = tuple(rows[:limit])
    more = len(rows) > limit
    return BreachPage(
        rows=page, next=position_word(page[-1].opened_at, page[-1].id) if more else None
    )


def _terms(wanted: BreachFilter) -> list[sa.ColumnElement[bool]]:
    terms = [
        *equal(
            breaches,
            service=wanted.service,
            model=wanted.model,
            category=wanted.category,
            threshold=wanted.threshold,
            state=wanted.state,
        ),
        *between(breaches.c.opened_at, None, wanted.until),
    ]
    if wanted.since is not None:
        ended = breaches.c.resolved_at
        terms.append(sa.or_(ended.is_(None), ended >= wanted.since))
    return terms
