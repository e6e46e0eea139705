"""Scored documents with their distances: what calibrations and new scores are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from monitor.records import RecordState, Strength
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.keyset import Place, later
from monitor.storage.tables import perturbations, records, scores

PAGE: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceWindow:
    """Which scored documents are meant; what is None does not restrict."""

    since: datetime | None = None
    """Received at or after."""
    until: datetime | None = None
    """Received before."""
    service: str | None = None
    model: str | None = None
    category: str | None = None
    """Empty for documents of which none was decided."""
    release: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceDocument:
    """The distances of one scored document, for a calibration or a re-normalization."""

    record_id: str
    trace_id: str | None
    service: str
    model: str
    category: str
    received_at: datetime
    probability: float
    distances: tuple[float, ...]
    """D_k of the perturbations that have one."""
    strengths: tuple[Strength, ...]
    """The requested band of each."""
    shares: tuple[float, ...]
    """The achieved share of each."""


def documents_where(
    database: Database, terms: Sequence[sa.ColumnElement[bool]]
) -> Iterator[ReferenceDocument]:
    """Scored documents of which the terms hold, by (received_at, id), page by page."""
    statement = (
        sa.select(
            records.c.id,
            records.c.trace_id,
            records.c.service,
            records.c.model,
            sa.func.coalesce(records.c.category, "").label("category"),
            records.c.received_at,
            records.c.probability,
        )
        .join(scores)
        .where(*terms)
        .order_by(records.c.received_at, records.c.id)
        .limit(PAGE)
    )
    last: Place | None = None
    while True:
        page = statement
        if last is not None:
            page = page.where(later(records.c.received_at, records.c.id, last))
        # A transaction a page: a long reader would keep SQLite's log from shrinking.
        with database.read() as connection:
            rows = connection.execute(page).mappings().all()
            runs = _runs(connection, [row["id"] for row in rows])
        for row in rows:
            values: dict[str, Any] = dict(row)
            found = runs[values["id"]]
            yield ReferenceDocument(
                record_id=values.pop("id"),
                **values,
                distances=tuple(distance for distance, _, _ in found),
                strengths=tuple(strength for _, strength, _ in found),
                shares=tuple(share for _, _, share in found),
            )
        if len(rows) < PAGE:
            return
        last = (rows[-1]["received_at"], rows[-1]["id"])


def measured(window: ReferenceWindow) -> list[sa.ColumnElement[bool]]:
    """Scored records of the window with at least one distance."""
    terms = [
        records.c.state == RecordState.SCORED,
        scores.c.distances > 0,
        *between(records.c.received_at, window.since, window.until),
        *equal(records, service=window.service, model=window.model, release=window.release),
    ]
    if window.category is not None:
        terms.append(sa.func.coalesce(records.c.category, "") == window.category)
    return terms


def _runs(
    connection: sa.Connection, record_ids: Sequence[str]
) -> dict[str, list[tuple[float, Strength, float]]]:
    """(distance, strength, share) of the measured perturbations of each record, in order."""
    found: dict[str, list[tuple[float, Strength, float]]] = {key: [] for key in record_ids}
    if not record_ids:
        return found
    statement = (
        sa.select(
            perturbations.c.record_id,
            perturbations.c.distance,
            perturbations.c.strength,
            perturbations.c.share,
        )
        .where(perturbations.c.record_id.in_(record_ids), perturbations.c.distance.is_not(None))
        .order_by(perturbations.c.record_id, perturbations.c.number)
    )
    for record_id, distance, strength, share in connection.execute(statement):
        if distance is not None:
            found[record_id].append((distance, strength, share))
    return found
