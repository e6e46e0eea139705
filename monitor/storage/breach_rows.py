"""Rows of the tables of thresholds and breaches as findings, and back."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Row

from monitor.findings import BreachContributor, BreachRow, ThresholdState
from monitor.storage.series_columns import series_of, series_row

PEOPLES: Final = frozenset(
    {"acknowledged_at", "acknowledged_by", "note", "mark", "marked_by", "marked_at"}
)
"""Columns that people write; no evaluation changes them."""
_STATE_FIELDS: Final = (
    "threshold",
    "state",
    "number",
    "value",
    "level",
    "records",
    "reason",
    "evaluated_at",
)
_BREACH_FIELDS: Final = (
    "id",
    "threshold",
    "number",
    "signal",
    "statistic",
    "comparison",
    "severity",
    "state",
    "exceeded_since",
    "opened_at",
    "resolved_at",
    "value",
    "worst",
    "window_seconds",
    "records",
    "acknowledged_at",
    "acknowledged_by",
    "note",
)
_CONTRIBUTOR_FIELDS: Final = (
    "record_id",
    "value",
    "weight",
    "place",
    "release",
    "mark",
    "marked_by",
    "marked_at",
)


def threshold_state_row(state: ThresholdState) -> dict[str, Any]:
    plain = {field: getattr(state, field) for field in _STATE_FIELDS}
    return {
        **series_row(state.series),
        **plain,
        "limit_value": state.limit,
        "stored": dict(state.stored),
    }


def threshold_state(row: Row[*tuple[Any, ...]]) -> ThresholdState:
    return ThresholdState(
        series=series_of(row),
        limit=row.limit_value,
        stored=row.stored,
        **{field: getattr(row, field) for field in _STATE_FIELDS},
    )


def breach_columns(breach: BreachRow) -> dict[str, Any]:
    plain = {field: getattr(breach, field) for field in _BREACH_FIELDS}
    return {**series_row(breach.series), **plain, "limit_value": breach.limit}


def breach_row(row: Row[*tuple[Any, ...]]) -> BreachRow:
    return BreachRow(
        series=series_of(row),
        limit=row.limit_value,
        **{field: getattr(row, field) for field in _BREACH_FIELDS},
    )


def contributor_row(breach_id: str, contributor: BreachContributor) -> dict[str, Any]:
    plain = {field: getattr(contributor, field) for field in _CONTRIBUTOR_FIELDS}
    return {"breach_id": breach_id, **plain}


def contributor(row: Row[*tuple[Any, ...]]) -> BreachContributor:
    return BreachContributor(**{field: getattr(row, field) for field in _CONTRIBUTOR_FIELDS})
