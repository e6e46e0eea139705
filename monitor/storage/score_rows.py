"""Scored records in the order in which they came in, page by page, for exports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from monitor.records import Reason
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.keyset import Place, later
from monitor.storage.outlet_tables import IS_SCORED
from monitor.storage.tables import records, scores

_PAGE: Final = 500
_PAGE_OF_TEXTS: Final = 20
"""A document may have megabytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreRow:
    """What was found out about one scored record, without its texts."""

    record_id: str
    received_at: datetime
    finished_at: datetime
    service: str
    model: str
    category: str
    """Empty where none was decided."""
    release: str | None
    trace_id: str | None
    span_id: str | None
    probability: float
    """π; the record stands for 1/π."""
    hss: float | None
    hss_low: float | None
    hss_high: float | None
    hss_reason: Reason | None
    """Why there is no HSS."""
    raw_distance: float | None
    null_distance: float | None
    excess: float | None
    observed_distance: float | None
    distances: int
    """Perturbed documents behind the score."""
    mean_share: float | None
    entity_support: float | None
    entities: int | None
    number_support: float | None
    numbers: int | None
    content_word_precision: float | None
    summac: float | None
    factcc: float | None
    attribution_probability: float | None
    shap_instability: float | None
    shap_noise_floor: float | None
    lime_instability: float | None
    lime_noise_floor: float | None
    smile_instability: float | None
    smile_noise_floor: float | None
    attention_instability: float | None
    document_words: int | None
    summary_words: int | None
    baseline: str | None
    calibration_id: str | None
    fingerprint: str
    core_seconds: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreTexts:
    """The texts of one scored record; None where they are not kept."""

    document: str | None
    summary: str | None
    baseline_summary: str | None


def _column(name: str) -> sa.ColumnElement[Any]:
    if name == "record_id":
        return records.c.id.label(name)
    if name == "category":
        return sa.func.coalesce(records.c.category, "").label(name)
    return (records.c if name in records.c else scores.c)[name]


SCORE_COLUMNS: Final = tuple(_column(name) for name in ScoreRow.__slots__)
"""The fields of `ScoreRow`, in its order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreFilter:
    """Which scores; what is None does not restrict."""

    service: str | None = None
    model: str | None = None
    category: str | None = None
    since: datetime | None = None
    """Received at or after."""
    until: datetime | None = None
    """Received before."""


def score_rows(
    database: Database, wanted: ScoreFilter, *, texts: bool = False
) -> Iterator[list[tuple[ScoreRow, ScoreTexts | None]]]:
    """Scored records that pass the filter, by (received_at, id), page by page.

    A page has at most 500 rows, or 20 with texts. It is a transaction of its own: a long
    reader would keep SQLite's log from shrinking. The texts come along with `texts` only.
    """
    columns: tuple[Any, ...] = SCORE_COLUMNS
    size = _PAGE_OF_TEXTS if texts else _PAGE
    if texts:
        columns += (records.c.document, records.c.summary, scores.c.baseline_summary)
    statement = (
        sa.select(*columns)
        .select_from(records.join(scores))
        .where(sa.text(f"records.{IS_SCORED}"), *_terms(wanted))
        .order_by(records.c.received_at, records.c.id)
        .limit(size)
    )
    last: Place | None = None
    while True:
        page = statement
        if last is not None:
            page = page.where(later(records.c.received_at, records.c.id, last))
        with database.read() as connection:
            found = [_split(row, texts) for row in connection.execute(page).mappings()]
        if found:
            yield found
        if len(found) < size:
            return
        last = (found[-1][0].received_at, found[-1][0].record_id)


def _terms(wanted: ScoreFilter) -> list[sa.ColumnElement[bool]]:
    return [
        *equal(records, service=wanted.service, model=wanted.model, category=wanted.category),
        *between(records.c.received_at, wanted.since, wanted.until),
    ]


def _split(row: sa.RowMapping, texts: bool) -> tuple[ScoreRow, ScoreTexts | None]:
    values = ScoreRow(**{name: row[name] for name in ScoreRow.__slots__})
    if not texts:
        return values, None
    return values, ScoreTexts(**{name: row[name] for name in ScoreTexts.__slots__})
