"""What readers ask: the list of records, newest first, and which series there are.

Every page has at most 200 rows and continues behind the last row of the one before (keyset
paging): page 1,000 costs as much as page 1, and records that come in meanwhile do not
shift the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from monitor.records import Reason, RecordState
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.keyset import earlier
from monitor.storage.paging import MAX_PAGE as MAX_PAGE
from monitor.storage.paging import check_limit, position_word, read_position
from monitor.storage.tables import records, scores


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordFilter:
    """Which records to list; what is None does not restrict."""

    service: str | None = None
    model: str | None = None
    category: str | None = None
    release: str | None = None
    state: RecordState | None = None
    reason: Reason | None = None
    since: datetime | None = None
    """Received at or after."""
    until: datetime | None = None
    """Received before."""
    min_hss: float | None = None
    trace_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRow:
    """One line of the list."""

    id: str
    service: str
    model: str
    category: str | None
    release: str | None
    state: RecordState
    reason: Reason | None
    detail: str
    trace_id: str | None
    span_id: str | None
    received_at: datetime
    finished_at: datetime | None
    probability: float
    attempts: int
    hss: float | None
    hss_low: float | None
    hss_high: float | None
    raw_distance: float | None
    null_distance: float | None
    excess: float | None
    entity_support: float | None
    number_support: float | None
    shap_instability: float | None
    shap_noise_floor: float | None
    shap_reason: Reason | None
    """Why there is none; None beside None: SHAP is not configured, or nothing was scored."""
    calibration_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordPage:
    rows: tuple[RecordRow, ...]
    next: str | None
    """Give it as `after` for the rest; None at the end."""


ROW_COLUMNS: Final = (
    records.c.id,
    records.c.service,
    records.c.model,
    records.c.category,
    records.c.release,
    records.c.state,
    records.c.reason,
    records.c.detail,
    records.c.trace_id,
    records.c.span_id,
    records.c.received_at,
    records.c.finished_at,
    records.c.probability,
    records.c.attempts,
    scores.c.hss,
    scores.c.hss_low,
    scores.c.hss_high,
    scores.c.raw_distance,
    scores.c.null_distance,
    scores.c.excess,
    scores.c.entity_support,
    scores.c.number_support,
    scores.c.shap_instability,
    scores.c.shap_noise_floor,
    scores.c.shap_reason,
    scores.c.calibration_id,
)
"""The fields of `RecordRow`, in its order."""


def list_records(
    database: Database,
    wanted: RecordFilter | None = None,
    *,
    limit: int = 50,
    after: str | None = None,
) -> RecordPage:
    """Records that pass the filter, newest first by (received_at, id).

    Raises:
        UsageError: `limit` is out of range, or `after` did not come from a page.
    """
    check_limit(limit)
    wanted = wanted or RecordFilter()
    statement = (
        sa.select(*ROW_COLUMNS)
        .select_from(records.join(scores, isouter=wanted.min_hss is None))
        .where(*_terms(wanted))
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        # One more than asked for tells whether there is a next page.
        .limit(limit + 1)
    )
    if after is not None:
        place = read_position(after)
        statement = statement.where(earlier(records.c.received_at, records.c.id, place))
    with database.read() as connection:
        rows = [RecordRow(**row) for row in connection.execute(statement).mappings()]
    page = tuple(rows[:limit])
    return RecordPage(
        rows=page,
        next=position_word(page[-1].received_at, page[-1].id) if len(rows) > limit else None,
    )


def _terms(wanted: RecordFilter) -> list[sa.ColumnElement[bool]]:
    terms = [
        *equal(
            records,
            service=wanted.service,
            model=wanted.model,
            category=wanted.category,
            release=wanted.release,
            trace_id=wanted.trace_id,
            state=wanted.state,
            reason=wanted.reason,
        ),
        *between(records.c.received_at, wanted.since, wanted.until),
    ]
    if wanted.min_hss is not None:
        terms.append(scores.c.hss >= wanted.min_hss)
    return terms
