"""The tables of what leaves the sidecar: views of texts, deliveries of breaches, cursors."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Named,
    Table,
    TypedColumns,
    text,
)

from monitor.storage.engine import Database
from monitor.storage.finding_tables import breaches
from monitor.storage.tables import metadata, records
from monitor.storage.types import CleanText, Identifier, UtcDateTime

IS_SCORED = "state = 'scored'"
"""Written out, not bound: PostgreSQL takes a partial index for a literal only."""
Index(
    "ix_records_scored",
    records.c.finished_at,
    records.c.id,
    sqlite_where=text(IS_SCORED),
    postgresql_where=text(IS_SCORED),
)


def is_scored(database: Database) -> sa.TextClause:
    """The predicate of that index, so that both databases take it.

    Without statistics SQLite takes the index on states else, and sorts all scored records.
    """
    term = f"records.{IS_SCORED}"
    return sa.text(f"likely({term})" if database.is_sqlite else term)


IS_DUE = "delivered_at IS NULL AND given_up_at IS NULL"


class TextViewColumns(TypedColumns):
    """Somebody was shown the texts of a record; the row outlives the record."""

    id: Named[str] = Column(Identifier(), primary_key=True)
    viewed_at: Named[datetime] = Column(UtcDateTime("viewed_at"))
    role: Named[str] = Column(CleanText())
    viewer: Named[str] = Column(CleanText())
    """The hash of a session, `token`, `anybody`, or the user of the command line."""
    record_id: Named[str] = Column(Identifier())
    channel: Named[str] = Column(CleanText())


text_views = Table(
    "text_views",
    metadata,
    TextViewColumns,
    CheckConstraint("channel IN ('page', 'api', 'cli', 'export')", name="channel"),
    Index("ix_text_views_viewed", "viewed_at", "id"),
    Index("ix_text_views_record", "record_id", "viewed_at"),
)


class DeliveryColumns(TypedColumns):
    """One event of a breach for the webhook; it goes with its breach."""

    breach_id: Named[str] = Column(
        Identifier(), ForeignKey(breaches.c.id, ondelete="CASCADE"), primary_key=True
    )
    event: Named[str] = Column(Identifier(), primary_key=True)
    queued_at: Named[datetime] = Column(UtcDateTime("queued_at"))
    attempts: Named[int] = Column(Integer())
    not_before: Named[datetime] = Column(UtcDateTime("not_before"))
    """When it may be tried: while a front tries, the end of its time limit."""
    delivered_at: Named[datetime | None] = Column(UtcDateTime("delivered_at"))
    given_up_at: Named[datetime | None] = Column(UtcDateTime("given_up_at"))
    problem: Named[str | None] = Column(CleanText())
    """Of the last try that failed: the status, or the kind of error."""


deliveries = Table(
    "deliveries",
    metadata,
    DeliveryColumns,
    CheckConstraint("event IN ('open', 'resolved')", name="event"),
    CheckConstraint("delivered_at IS NULL OR given_up_at IS NULL", name="one_end"),
    Index(
        "ix_deliveries_due",
        "not_before",
        sqlite_where=text(IS_DUE),
        postgresql_where=text(IS_DUE),
    ),
)


class OutletCursorColumns(TypedColumns):
    """Up to where an outlet has sent what was scored."""

    outlet: Named[str] = Column(Identifier(), primary_key=True)
    finished_at: Named[datetime] = Column(UtcDateTime("finished_at"))
    record_id: Named[str] = Column(Identifier())


outlet_cursors = Table("outlet_cursors", metadata, OutletCursorColumns)
