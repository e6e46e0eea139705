"""The scored records of a group, signal by signal: what two models or releases compare by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import sqlalchemy as sa

from monitor.records import FloatArray, RecordState
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.queries import ROW_COLUMNS, RecordFilter, RecordRow
from monitor.storage.tables import records, scores
from monitor.storage.windows import OF_EXPLAINED, Signal

MOST: Final = 100_000
"""Records of one group; a mean over more is no better for any purpose here."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GroupSample:
    """The records of a group that have one signal, by (received_at, id)."""

    values: FloatArray
    """(n,)"""
    probabilities: FloatArray
    """(n,) π; for attributions times the probability of being explained."""
    traces: tuple[str, ...]
    """Trace id, or the record's own id where it has none."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RecordGroup:
    """Scored records that pass one filter, oldest first."""

    records: int
    capped: bool
    """There are more: these are the newest."""
    fingerprints: Mapping[str, int]
    """How many were scored under each; distances of different ones do not compare."""
    calibrations: Mapping[str, int]
    """How many got their HSS by each; uncalibrated ones are left out."""
    releases: Mapping[str, int]
    """How many of each release, where the sender told it."""
    samples: Mapping[Signal, GroupSample]
    """Of every signal that at least one record has."""


def record_group(
    database: Database,
    wanted: RecordFilter,
    *,
    signals: Sequence[Signal],
    limit: int = MOST,
) -> RecordGroup:
    """The scored records that pass `wanted`, by (received_at, id); the newest `limit` of them.

    State, reason, trace and HSS of the filter do not apply.
    """
    statement = (
        sa.select(
            records.c.id,
            records.c.received_at,
            records.c.probability,
            records.c.trace_id,
            records.c.release,
            scores.c.attribution_probability,
            scores.c.fingerprint,
            scores.c.calibration_id,
            *(scores.c[signal.value].label(f"signal_{signal.value}") for signal in signals),
        )
        .select_from(records.join(scores))
        .where(records.c.state == RecordState.SCORED, *_terms(wanted))
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        .limit(limit + 1)
    )
    with database.read() as connection:
        rows = connection.execute(statement).mappings().all()
    capped = len(rows) > limit
    found = rows[:limit][::-1]
    samples = {signal: _sample(found, signal) for signal in signals}
    return RecordGroup(
        records=len(found),
        capped=capped,
        fingerprints=Counter(row["fingerprint"] for row in found),
        calibrations=_counted(row["calibration_id"] for row in found),
        releases=_counted(row["release"] for row in found),
        samples={signal: sample for signal, sample in samples.items() if sample.traces},
    )


def record_rows(database: Database, record_ids: Sequence[str]) -> dict[str, RecordRow]:
    """The rows of these records by their id; those that retention took are left out."""
    statement = (
        sa.select(*ROW_COLUMNS)
        .select_from(records.outerjoin(scores))
        .where(records.c.id.in_(record_ids))
    )
    with database.read() as connection:
        return {row["id"]: RecordRow(**row) for row in connection.execute(statement).mappings()}


def _terms(wanted: RecordFilter) -> list[sa.ColumnElement[bool]]:
    names = equal(
        records,
        service=wanted.service,
        model=wanted.model,
        category=wanted.category,
        release=wanted.release,
    )
    return [*names, *between(records.c.received_at, wanted.since, wanted.until)]


def _sample(rows: Sequence[sa.RowMapping], signal: Signal) -> GroupSample:
    known = [row for row in rows if row[f"signal_{signal.value}"] is not None]
    probabilities = [row["probability"] for row in known]
    if signal in OF_EXPLAINED:
        probabilities = [row["probability"] * row["attribution_probability"] for row in known]
    return GroupSample(
        values=np.array([row[f"signal_{signal.value}"] for row in known], dtype=np.float64),
        probabilities=np.array(probabilities, dtype=np.float64),
        traces=tuple(row["trace_id"] or row["id"] for row in known),
    )


def _counted(values: Iterable[str | None]) -> Counter[str]:
    return Counter(value for value in values if value is not None)
