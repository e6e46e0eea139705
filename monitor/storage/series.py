"""Records by series and signal, in the order in which drift and thresholds take them in.

A series is a service, a model and a category as it was decided when the record was scored:
`coalesce(category, '')`. Before that a record may belong to any category of its service and
model, so until it is final all of them wait for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from monitor.errors import UsageError, choices
from monitor.findings import Cursor, Series, SignalSample
from monitor.records import RecordState
from monitor.storage.engine import Database
from monitor.storage.finding_tables import IS_FINISHED
from monitor.storage.signal_columns import SKIPPED, has_columns, value_of
from monitor.storage.tables import IS_OPEN, records, scores
from monitor.storage.windows import OF_EXPLAINED, Signal

_ARRIVAL: Final = timedelta(seconds=2)
"""What a front may take from noting the arrival of a record to its commit."""


def list_series(
    database: Database, *, since: datetime | None = None, limit: int = 200
) -> list[tuple[Series, int]]:
    """Series with the number of their records that were finished at or after `since`,
    busiest first."""
    category: sa.ColumnElement[str] = sa.func.coalesce(records.c.category, "", type_=sa.Text())
    count = sa.func.count()
    statement = (
        sa.select(records.c.service, records.c.model, category, count)
        .where(sa.text(IS_FINISHED))
        .group_by(records.c.service, records.c.model, category)
        .order_by(count.desc(), records.c.service, records.c.model, category)
        .limit(limit)
    )
    if since is not None:
        statement = statement.where(records.c.finished_at >= since)
    with database.read() as connection:
        return [
            (Series(service=service, model=model, category=category), int(found))
            for service, model, category, found in connection.execute(statement)
        ]


def finished_until(database: Database, series: Series, *, now: datetime) -> datetime:
    """Up to where, exclusively, the records of a series in the order (received_at, id) are
    complete: no record that was received before can still be added to them.

    The arrival of the oldest record that is not final and may belong to the series, else now
    minus 2 s, because a record is stored a moment after the arrival that it notes.
    """
    with database.read() as connection:
        oldest = _oldest_waiting(connection, series, undecided=True)
        if series.category:
            decided = _oldest_waiting(connection, series, undecided=False)
            oldest = min((time for time in (oldest, decided) if time is not None), default=None)
    latest = now - _ARRIVAL
    return latest if oldest is None else min(oldest, latest)


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
        .where(*_series_terms(series), category, *_final(signal), *terms)
        .where(value_of(signal).is_not(None))
        .order_by(records.c.received_at, records.c.id)
        .limit(limit)
        .subquery()
        for category in _categories(series.category)
    ]
    found = sa.union_all(*(sa.select(branch) for branch in branches)).subquery()
    statement = sa.select(found).order_by(found.c.received_at, found.c.id).limit(limit)
    with database.read() as connection:
        rows = connection.execute(statement).all()
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


def minutes_unscored(database: Database, series: Series, *, now: datetime) -> float | None:
    """For how many minutes records have waited without any being finished; 0 where none waits.

    For records whose category is known: since the later of the series' last finished record
    and the arrival of its oldest waiting one. Waiting records without a category may become
    part of the series, too; for them any finished record of service and model counts as
    progress. The greater of both. None where the series has no record at all.
    """
    with database.read() as connection:
        waits = [_wait(connection, series, undecided=True, now=now)]
        if series.category:
            waits.append(_wait(connection, series, undecided=False, now=now))
        if waits == [0.0] * len(waits) and not _exists(connection, series):
            return None
    return max(waits)


def _wait(connection: sa.Connection, series: Series, *, undecided: bool, now: datetime) -> float:
    oldest = _oldest_waiting(connection, series, undecided=undecided)
    if oldest is None:
        return 0.0
    last = (
        sa.select(records.c.finished_at)
        .where(*_series_terms(series), records.c.finished_at >= oldest)
        .order_by(records.c.finished_at.desc())
        .limit(1)
    )
    if not undecided:
        last = last.where(records.c.category == series.category)
    latest = connection.execute(last).scalar_one_or_none()
    return max(0.0, (now - (latest or oldest)).total_seconds() / 60)


def _oldest_waiting(
    connection: sa.Connection, series: Series, *, undecided: bool
) -> datetime | None:
    """Arrival of the oldest record that is not final: of those without a category, or of
    those with the category of the series."""
    times = [
        connection.execute(
            sa.select(sa.func.min(records.c.received_at)).where(
                sa.text(IS_OPEN), *_series_terms(series), category
            )
        ).scalar_one()
        for category in _categories("" if undecided else series.category)
    ]
    return min((time for time in times if time is not None), default=None)


def _exists(connection: sa.Connection, series: Series) -> bool:
    return any(
        connection.execute(
            sa.select(records.c.id).where(*_series_terms(series), category).limit(1)
        ).first()
        for category in _categories(series.category)
    )


def _series_terms(series: Series) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return records.c.service == series.service, records.c.model == series.model


def _categories(category: str) -> list[sa.ColumnElement[bool]]:
    """`coalesce(category, '') = …`, in terms that an index can use."""
    same = records.c.category == category
    return [same] if category else [same, records.c.category.is_(None)]


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
    terms: list[sa.ColumnElement[bool]] = []
    if since is not None:
        terms.append(records.c.received_at >= since)
    if until is not None:
        terms.append(records.c.received_at < until)
    if after is not None:
        time, key = records.c.received_at, records.c.id
        cursor = sa.literal(after.received_at, time.type), sa.literal(after.record_id, key.type)
        terms.append(sa.tuple_(time, key) > sa.tuple_(*cursor))
    return terms
