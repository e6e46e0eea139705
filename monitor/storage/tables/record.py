"""Sampled records: what came in, who works on it, and whether it still has its texts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    Named,
    Table,
    TypedColumns,
    text,
)

from monitor.records import Reason, RecordState
from monitor.storage.content import ContentMode
from monitor.storage.tables.naming import metadata
from monitor.storage.types import CleanText, Identifier, Json, Real, UtcDateTime, Word

FINAL_STATES = (RecordState.SCORED, RecordState.SKIPPED, RecordState.FAILED)


def _one_of(column: str, words: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(str(word)) for word in words)})"


IS_OPEN = "finished_at IS NULL"
"""Not in terms of `state`: SQLite would then take the index on states and sort the whole
backlog for every claim."""
IS_UNOBSERVED = "observed_at IS NULL AND finished_at IS NOT NULL"
IS_ERASABLE = "erased_at IS NULL AND finished_at IS NOT NULL"
ERASED: Mapping[str, None] = {
    "document": None,
    "summary": None,
    "request": None,
    "alternatives": None,
    "sealed": None,
}
"""What erasing the content of a record sets."""


class RecordColumns(TypedColumns):
    """One sampled record, from its arrival to its end."""

    id: Named[str] = Column(Identifier(), primary_key=True)
    state: Named[RecordState] = Column(Word(RecordState))
    reason: Named[Reason | None] = Column(Word(Reason))
    detail: Named[str] = Column(CleanText())

    service: Named[str] = Column(CleanText())
    model: Named[str] = Column(CleanText())
    category: Named[str | None] = Column(CleanText())
    """As known on arrival, then as the scorer decided."""
    release: Named[str | None] = Column(CleanText())
    trace_id: Named[str | None] = Column(CleanText())
    span_id: Named[str | None] = Column(CleanText())
    received_at: Named[datetime] = Column(UtcDateTime("received_at"))
    started_at: Named[datetime | None] = Column(UtcDateTime("started_at"))
    finished_at: Named[datetime | None] = Column(UtcDateTime("finished_at"))

    content_mode: Named[ContentMode] = Column(Word(ContentMode))
    document: Named[str | None] = Column(CleanText())
    summary: Named[str | None] = Column(CleanText())
    request: Named[Any] = Column(Json("request"), nullable=True)
    alternatives: Named[Any] = Column(Json("alternatives"), nullable=True)
    sealed: Named[bytes | None] = Column(LargeBinary())
    """All of the above, encrypted, in `hash_only`; erased when the record is final."""
    document_hash: Named[str] = Column(CleanText())
    summary_hash: Named[str] = Column(CleanText())
    content_bytes: Named[int] = Column(BigInteger())
    """What the record and its parts weigh, nearly: the size cap on PostgreSQL counts it."""
    erased_at: Named[datetime | None] = Column(UtcDateTime("erased_at"))

    stratum_service: Named[str] = Column(CleanText())
    stratum_model: Named[str] = Column(CleanText())
    stratum_category: Named[str] = Column(CleanText())
    probability: Named[float] = Column(Real("probability"))
    """π; the record weighs 1/π."""
    upstream_probability: Named[float] = Column(Real("upstream_probability"))
    epoch: Named[int] = Column(Integer())
    front: Named[str] = Column(CleanText())
    observed_at: Named[datetime | None] = Column(UtcDateTime("observed_at"))
    """When its front counted it; NULL until then."""

    attempts: Named[int] = Column(Integer())
    lease_token: Named[str | None] = Column(CleanText())
    """Kept after the end, so that a repeated `finish` is told from a stale one."""
    lease_worker: Named[str | None] = Column(CleanText())
    lease_until: Named[datetime | None] = Column(UtcDateTime("lease_until"))
    not_before: Named[datetime] = Column(UtcDateTime("not_before"))
    """When a scorer may claim it: for a leased record the end of the lease."""


records = Table(
    "records",
    metadata,
    RecordColumns,
    CheckConstraint(_one_of("state", tuple(RecordState)), name="state"),
    CheckConstraint("probability > 0 AND probability <= 1", name="probability"),
    Index("ix_records_received", "received_at", "id"),
    Index("ix_records_state", "state", "received_at", "id"),
    Index("ix_records_series", "service", "model", "category", "received_at", "id"),
    Index("ix_records_span", "trace_id", "span_id"),
    Index(
        "ix_records_open",
        "received_at",
        "id",
        sqlite_where=text(IS_OPEN),
        postgresql_where=text(IS_OPEN),
    ),
    Index(
        "ix_records_unobserved",
        "front",
        "finished_at",
        sqlite_where=text(IS_UNOBSERVED),
        postgresql_where=text(IS_UNOBSERVED),
    ),
    Index(
        "ix_records_erasable",
        "received_at",
        "id",
        sqlite_where=text(IS_ERASABLE),
        postgresql_where=text(IS_ERASABLE),
    ),
)
