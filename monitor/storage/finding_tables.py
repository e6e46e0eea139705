"""The tables of what is found out about many records together: drift, breaches, the lease.

None of them refers to `records` by a foreign key: a breach with its contributors outlives the
records, which are pruned much sooner. Nor do references name their calibration by one: they
are stored first, so that a calibration has its references from the moment it is active.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Named,
    Table,
    TypedColumns,
    UniqueConstraint,
    text,
)

from monitor.storage.tables import IS_OPEN, metadata, records
from monitor.storage.types import CleanText, Identifier, Json, Real, UtcDateTime

# What `series` and `samples` ask of the records. The category stands behind the time of the end,
# because it is often decided late: who asks for the last end of all categories and who asks for
# that of one are both served.
IS_FINISHED = "finished_at IS NOT NULL"
Index(
    "ix_records_open_series",
    records.c.service,
    records.c.model,
    records.c.category,
    records.c.received_at,
    sqlite_where=text(IS_OPEN),
    postgresql_where=text(IS_OPEN),
)
Index(
    "ix_records_finished",
    records.c.service,
    records.c.model,
    records.c.finished_at,
    records.c.category,
    sqlite_where=text(IS_FINISHED),
    postgresql_where=text(IS_FINISHED),
)

IS_OPEN_BREACH = "state = 'open'"
_DRIFT_STATES = "('insufficient', 'stable', 'suspect', 'drifted')"


class SeriesColumns(TypedColumns):
    """Whose finding it is; the category is empty where none was decided."""

    service: Named[str] = Column(Identifier(), primary_key=True)
    model: Named[str] = Column(Identifier(), primary_key=True)
    category: Named[str] = Column(Identifier(), primary_key=True)


class DriftReferenceColumns(SeriesColumns):
    """The frozen reference of one signal, or why there is none; never changed."""

    signal: Named[str] = Column(Identifier(), primary_key=True)
    calibration_id: Named[str] = Column(Identifier(), primary_key=True)
    fitted: Named[Any] = Column(Json("fitted"), nullable=True)
    reason: Named[str | None] = Column(CleanText())
    detail: Named[str] = Column(CleanText())
    warning: Named[str | None] = Column(CleanText())
    records: Named[int] = Column(Integer())
    since: Named[datetime | None] = Column(UtcDateTime("since"))
    until: Named[datetime | None] = Column(UtcDateTime("until"))
    release: Named[str | None] = Column(CleanText())
    origin: Named[str | None] = Column(CleanText())
    """Calibration whose window it is of; NULL: its own."""


class WatchStateColumns(SeriesColumns):
    """Where the e-detector of one signal stands, and up to which record."""

    signal: Named[str] = Column(Identifier(), primary_key=True)
    reference_id: Named[str] = Column(Identifier())
    state: Named[Any] = Column(Json("state"), nullable=False)
    cursor_received_at: Named[datetime | None] = Column(UtcDateTime("cursor_received_at"))
    cursor_record_id: Named[str | None] = Column(Identifier())


class DriftFindingColumns(SeriesColumns):
    """The present verdict on one signal."""

    signal: Named[str] = Column(Identifier(), primary_key=True)
    calibration_id: Named[str | None] = Column(CleanText())
    state: Named[str] = Column(CleanText())
    reason: Named[str | None] = Column(CleanText())
    detail: Named[str] = Column(CleanText())
    direction: Named[str | None] = Column(CleanText())
    since: Named[datetime | None] = Column(UtcDateTime("since"))
    raised_at: Named[datetime | None] = Column(UtcDateTime("raised_at"))
    effect: Named[float | None] = Column(Real("effect"))
    effect_low: Named[float | None] = Column(Real("effect_low"))
    effect_high: Named[float | None] = Column(Real("effect_high"))
    deviations: Named[float | None] = Column(Real("deviations"))
    reference_mean: Named[float | None] = Column(Real("reference_mean"))
    current_mean: Named[float | None] = Column(Real("current_mean"))
    evidence: Named[float | None] = Column(Real("evidence"))
    threshold: Named[float] = Column(Real("threshold"))
    records: Named[int] = Column(Integer())
    tests: Named[Any] = Column(Json("tests"), nullable=False)
    """[[statistic, value, p, adjusted p, reason, detail], …]."""
    evaluated_at: Named[datetime] = Column(UtcDateTime("evaluated_at"))


class DriftChangeColumns(SeriesColumns):
    """The state of one signal changed; saved again it is still one row."""

    at: Named[datetime] = Column(UtcDateTime("at"), primary_key=True)
    signal: Named[str] = Column(Identifier(), primary_key=True)
    state_after: Named[str] = Column(Identifier(), primary_key=True)
    state_before: Named[str] = Column(CleanText())
    since: Named[datetime | None] = Column(UtcDateTime("since"))
    direction: Named[str | None] = Column(CleanText())


drift_references = Table("drift_references", metadata, DriftReferenceColumns)
watch_states = Table(
    "watch_states",
    metadata,
    WatchStateColumns,
    CheckConstraint(
        "(cursor_received_at IS NULL) = (cursor_record_id IS NULL)", name="whole_cursor"
    ),
)
drift_findings = Table(
    "drift_findings",
    metadata,
    DriftFindingColumns,
    CheckConstraint(f"state IN {_DRIFT_STATES}", name="state"),
)
drift_changes = Table(
    "drift_changes",
    metadata,
    DriftChangeColumns,
    CheckConstraint(f"state_after IN {_DRIFT_STATES}", name="state_after"),
    Index("ix_drift_changes_at", "at"),
)


class ThresholdStateColumns(SeriesColumns):
    """Where one threshold of one series stands."""

    threshold: Named[str] = Column(Identifier(), primary_key=True)
    state: Named[str] = Column(CleanText())
    number: Named[int] = Column(Integer())
    value: Named[float | None] = Column(Real("value"))
    limit_value: Named[float | None] = Column(Real("limit_value"))
    """`limit` alone is a reserved word."""
    level: Named[float | None] = Column(Real("level"))
    records: Named[int] = Column(Integer())
    reason: Named[str | None] = Column(CleanText())
    evaluated_at: Named[datetime] = Column(UtcDateTime("evaluated_at"))
    stored: Named[Any] = Column(Json("stored"), nullable=False)


threshold_states = Table(
    "threshold_states",
    metadata,
    ThresholdStateColumns,
    CheckConstraint("state IN ('ok', 'pending', 'open', 'resolved')", name="state"),
    CheckConstraint("number >= 0", name="number"),
)


class BreachColumns(TypedColumns):
    """A breach that opened, once."""

    id: Named[str] = Column(Identifier(), primary_key=True)
    threshold: Named[str] = Column(Identifier())
    service: Named[str] = Column(Identifier())
    model: Named[str] = Column(Identifier())
    category: Named[str] = Column(Identifier())
    number: Named[int] = Column(Integer())
    signal: Named[str] = Column(CleanText())
    statistic: Named[str] = Column(CleanText())
    comparison: Named[str] = Column(CleanText())
    severity: Named[str] = Column(CleanText())
    state: Named[str] = Column(CleanText())
    exceeded_since: Named[datetime] = Column(UtcDateTime("exceeded_since"))
    opened_at: Named[datetime] = Column(UtcDateTime("opened_at"))
    resolved_at: Named[datetime | None] = Column(UtcDateTime("resolved_at"))
    value: Named[float | None] = Column(Real("value"))
    worst: Named[float | None] = Column(Real("worst"))
    limit_value: Named[float | None] = Column(Real("limit_value"))
    window_seconds: Named[float] = Column(Real("window_seconds"))
    records: Named[int] = Column(Integer())
    acknowledged_at: Named[datetime | None] = Column(UtcDateTime("acknowledged_at"))
    """This and the next two belong to people: no evaluation writes them."""
    acknowledged_by: Named[str | None] = Column(CleanText())
    note: Named[str | None] = Column(CleanText())


breaches = Table(
    "breaches",
    metadata,
    BreachColumns,
    CheckConstraint("state IN ('open', 'resolved')", name="state"),
    CheckConstraint("(state = 'resolved') = (resolved_at IS NOT NULL)", name="resolved"),
    UniqueConstraint(
        "threshold", "service", "model", "category", "number", name="uq_breaches_number"
    ),
    Index("ix_breaches_opened", "opened_at", "id"),
    Index("ix_breaches_series", "service", "model", "category", "opened_at", "id"),
    Index(
        "ix_breaches_open",
        "opened_at",
        "id",
        sqlite_where=text(IS_OPEN_BREACH),
        postgresql_where=text(IS_OPEN_BREACH),
    ),
)


class BreachContributorColumns(TypedColumns):
    """A record that helped to open a breach, and what people said of it."""

    breach_id: Named[str] = Column(
        Identifier(), ForeignKey("breaches.id", ondelete="CASCADE"), primary_key=True
    )
    record_id: Named[str] = Column(Identifier(), primary_key=True)
    value: Named[float] = Column(Real("value"))
    weight: Named[float] = Column(Real("weight"))
    place: Named[int] = Column(Integer())
    release: Named[str | None] = Column(CleanText())
    mark: Named[bool | None] = Column(Boolean())
    """This and the next two belong to people, too."""
    marked_by: Named[str | None] = Column(CleanText())
    marked_at: Named[datetime | None] = Column(UtcDateTime("marked_at"))


breach_contributors = Table(
    "breach_contributors",
    metadata,
    BreachContributorColumns,
    CheckConstraint("weight > 0", name="weight"),
    Index("ix_breach_contributors_record", "record_id"),
)


class EvaluatorLeaseColumns(TypedColumns):
    """Who evaluates at present: one row."""

    number: Named[int] = Column(Integer(), primary_key=True, autoincrement=False)
    holder: Named[str] = Column(CleanText())
    token: Named[int] = Column(Integer())
    until: Named[datetime] = Column(UtcDateTime("until"))
    evaluated_at: Named[datetime | None] = Column(UtcDateTime("evaluated_at"))
    session: Named[int | None] = Column(Integer())
    """PostgreSQL: process id of the session whose advisory lock shows that the holder lives;
    NULL where it has no such lock."""


evaluator_lease = Table(
    "evaluator_lease",
    metadata,
    EvaluatorLeaseColumns,
    CheckConstraint("number = 1", name="one_row"),
)
