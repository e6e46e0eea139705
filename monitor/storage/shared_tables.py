"""The tables of what outlives a record and is shared by all replicas."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
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

from monitor.storage.tables import metadata
from monitor.storage.types import CleanText, Identifier, Json, Real, UtcDateTime


class CalibrationColumns(TypedColumns):
    """A frozen set of normalizers; only `active` ever changes."""

    id: Named[str] = Column(Identifier(), primary_key=True)
    fingerprint: Named[str] = Column(CleanText())
    settings: Named[Any] = Column(Json("settings"), nullable=False)
    created_at: Named[datetime] = Column(UtcDateTime("created_at"))
    reference_window: Named[str] = Column(CleanText())
    """Its name. `window` alone is a reserved word in PostgreSQL."""
    since: Named[datetime | None] = Column(UtcDateTime("since"))
    until: Named[datetime | None] = Column(UtcDateTime("until"))
    provisional: Named[bool] = Column(Boolean())
    warnings: Named[Any] = Column(Json("warnings"), nullable=False)
    active: Named[bool] = Column(Boolean())
    release: Named[str | None] = Column(CleanText())


calibrations = Table(
    "calibrations",
    metadata,
    CalibrationColumns,
    Index(
        "ux_calibrations_active",
        "fingerprint",
        "provisional",
        unique=True,
        sqlite_where=text("active"),
        postgresql_where=text("active"),
    ),
)


class NormalizerColumns(TypedColumns):
    """M_c of one category of a calibration."""

    calibration_id: Named[str] = Column(
        Identifier(), ForeignKey("calibrations.id", ondelete="CASCADE"), primary_key=True
    )
    number: Named[int] = Column(Integer(), primary_key=True, autoincrement=False)
    category: Named[str | None] = Column(CleanText())
    """NULL is the pooled one."""
    value: Named[float] = Column(Real("value"))
    low: Named[float | None] = Column(Real("low"))
    high: Named[float | None] = Column(Real("high"))
    documents: Named[int] = Column(Integer())
    distances: Named[int] = Column(Integer())


normalizers = Table(
    "normalizers", metadata, NormalizerColumns, CheckConstraint("value > 0", name="value")
)


class EpochColumns(TypedColumns):
    """The sampling rates of one stretch of time."""

    number: Named[int] = Column(Integer(), primary_key=True, autoincrement=False)
    starts_at: Named[datetime] = Column(UtcDateTime("starts_at"))
    ends_at: Named[datetime] = Column(UtcDateTime("ends_at"))
    rates: Named[Any] = Column(Json("rates"), nullable=False)
    """[[service, model, category, rate], …]."""
    default_rate: Named[float] = Column(Real("default_rate"))


class ArrivalColumns(TypedColumns):
    """Records received in an epoch by one front, sampled or not."""

    epoch: Named[int] = Column(Integer(), primary_key=True, autoincrement=False)
    front: Named[str] = Column(Identifier(), primary_key=True)
    service: Named[str] = Column(Identifier(), primary_key=True)
    model: Named[str] = Column(Identifier(), primary_key=True)
    category: Named[str] = Column(Identifier(), primary_key=True)
    received: Named[int] = Column(BigInteger())


epochs = Table("epochs", metadata, EpochColumns)
arrivals = Table("arrivals", metadata, ArrivalColumns)


class MetaColumns(TypedColumns):
    """Facts about the installation that all replicas share."""

    key: Named[str] = Column(Identifier(), primary_key=True)
    value: Named[str] = Column(CleanText())


meta = Table("meta", metadata, MetaColumns)
