"""One signal of one series, as columns of a query."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from monitor.errors import UsageError
from monitor.findings import Series
from monitor.records import RecordState
from monitor.storage.tables import FINAL_STATES, records, scores
from monitor.storage.windows import OF_EXPLAINED, Signal

SKIPPED: Final = "skipped"
"""1 for a sampled record that was skipped or failed, 0 for a scored one."""


def has_columns(signal: str) -> bool:
    """Whether the signal belongs to single records (`minutes_unscored` does not)."""
    return signal == SKIPPED or signal in set(Signal)


def require_columns(signal: str) -> None:
    """Raises `UsageError` for a signal that single records do not have."""
    if not has_columns(signal):
        raise UsageError(f"signal: {signal!r} belongs to no single record; it has no distribution")


def value_of(signal: str) -> sa.ColumnElement[Any]:
    """The signal's number."""
    if signal == SKIPPED:
        return sa.case((records.c.state == RecordState.SCORED, 0.0), else_=1.0)
    return scores.c[Signal(signal).value]


def weight_of(signal: str) -> sa.ColumnElement[Any]:
    """How many records of the traffic a record stands for."""
    weight: sa.ColumnElement[Any] = 1.0 / records.c.probability
    return weight / scores.c.attribution_probability if signal in OF_EXPLAINED else weight


def of_names(series: Series) -> list[sa.ColumnElement[bool]]:
    """Records of its service and model, whatever their category."""
    return [records.c.service == series.service, records.c.model == series.model]


def of_category(category: str) -> list[sa.ColumnElement[bool]]:
    """`coalesce(category, '') = …`, in terms that an index can use: of each a branch."""
    same = records.c.category == category
    return [same] if category else [same, records.c.category.is_(None)]


def of_series(series: Series) -> list[sa.ColumnElement[bool]]:
    """The records of a series, in the form that the index on series answers."""
    return [*of_names(series), sa.or_(*of_category(series.category))]


def newest(
    series: Series,
    signal: str,
    columns: tuple[sa.Label[Any], ...],
    *,
    since: datetime,
    until: datetime,
    limit: int,
    release: str | None = None,
) -> sa.Subquery:
    """Columns of the newest records of [since, until) that have the signal, at most `limit`."""
    final = FINAL_STATES if signal == SKIPPED else (RecordState.SCORED,)
    of_release = [] if release is None else [records.c.release == release]
    return (
        sa.select(value_of(signal).label("value"), weight_of(signal).label("weight"), *columns)
        .select_from(records.join(scores, isouter=signal == SKIPPED))
        .where(
            *of_series(series),
            *of_release,
            records.c.state.in_(final),
            records.c.received_at >= since,
            records.c.received_at < until,
            value_of(signal).is_not(None),
        )
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        .limit(limit)
        .subquery()
    )
