"""The records of one series with one signal, in the order in which they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import sqlalchemy as sa

from monitor.errors import UsageError, choices
from monitor.findings import Cursor, Series, SignalSample
from monitor.records import RecordState
from monitor.storage.engine import Database
from monitor.storage.filters import between
from monitor.storage.keyset import later
from monitor.storage.signal_columns import (
    SKIPPED,
    has_columns,
    of_category,
    of_names,
    value_of,
)
from monitor.storage.tables import records, scores
from monitor.storage.windows import OF_EXPLAINED, Signal


def signal_sample(
    database: Database,
    series: Series,
    signal: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    after: Cursor | None = None,
    limit: int | None = None,
    release: str | None = None,
    fingerprint: str | None = None,
    calibration: str | None = None,
) -> SignalSample:
    """Records of a series with a value of a signal, received in [since, until) and behind
    the cursor, by (received_at, id).

    `signal` is one of `windows.Signal`, over scored records, or `skipped`, over all final
    ones; a fingerprint, and the calibration that HSS was normalized with, restrict the former
    only. `shares` is NaN where a record has no stored perturbation with a distance.
    Raises `UsageError` for an unknown signal.
    """
    if not has_columns(signal):
        known = choices((*Signal, SKIPPED))
        raise UsageError(f"signal: {signal!r} is no signal of single records; use {known}")
    terms = _between(since, until, after)
    if release is not None:
        terms.append(records.c.release == release)
    if signal != SKIPPED:
        if fingerprint is not None:
            terms.append(scores.c.fingerprint == fingerprint)
        if calibration is not None:
            terms.append(scores.c.calibration_id == calibration)
    with database.read() as connection:
        rows = connection.execute(_ordered(series, signal, terms, limit)).all()
    return SignalSample(
        ids=tuple(row.id for row in rows),
        times=np.array([row.received_at.timestamp() for row in rows], dtype=np.float64),
        values=np.array([row.value for row in rows], dtype=np.float64),
        probabilities=np.array([row.probability for row in rows], dtype=np.float64),
        traces=tuple(row.trace for row in rows),
        shares=np.array(
            [np.nan if row.mean_share is None else row.mean_share for row in rows],
            dtype=np.float64,
        ),
        releases=tuple(row.release for row in rows),
    )


def _ordered(
    series: Series, signal: str, terms: Sequence[sa.ColumnElement[bool]], limit: int | None
) -> sa.Select[Any]:
    columns = (
        records.c.id,
        records.c.received_at,
        value_of(signal).label("value"),
        _probability(signal).label("probability"),
        sa.func.coalesce(records.c.trace_id, records.c.id).label("trace"),
        scores.c.mean_share,
        records.c.release,
    )
    # One branch for each way in which "no category" is stored: an index has the order of each,
    # and no branch is read further than the limit.
    branches = [
        sa.select(*columns)
        .select_from(records.join(scores, isouter=signal == SKIPPED))
        .where(*of_names(series), category, *_final(signal), *terms)
        .where(value_of(signal).is_not(None))
        .order_by(records.c.received_at, records.c.id)
        .limit(limit)
        .subquery()
        for category in of_category(series.category)
    ]
    found = sa.union_all(*(sa.select(branch) for branch in branches)).subquery()
    return sa.select(found).order_by(found.c.received_at, found.c.id).limit(limit)


def _probability(signal: str) -> sa.ColumnElement[Any]:
    if signal in OF_EXPLAINED:
        return records.c.probability * scores.c.attribution_probability
    return records.c.probability


def _final(signal: str) -> list[sa.ColumnElement[bool]]:
    if signal == SKIPPED:
        return [records.c.finished_at.is_not(None)]
    # Not `= 'scored'`: without statistics SQLite would take the index on states and walk
    # through the records of all series.
    return [records.c.state.not_in([state for state in RecordState if state != "scored"])]


def _between(
    since: datetime | None, until: datetime | None, after: Cursor | None
) -> list[sa.ColumnElement[bool]]:
    terms = between(records.c.received_at, since, until)
    if after is not None:
        place = after.received_at, after.record_id
        terms.append(later(records.c.received_at, records.c.id, place))
    return terms
