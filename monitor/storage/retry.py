"""Queue finished records again: those that were skipped or failed, while their content is there.

A retried record is as it was on arrival: what the last attempt left (its score, runs and
attributions) goes, attempts start from none, and its front counts its next end as well,
beside the failure that was counted already. Scored records are refused: their numbers may
stand in a calibration, a breach or a report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from monitor.ports import Clock
from monitor.records import RecordState
from monitor.storage.claims import row_of, stored_content
from monitor.storage.content import ContentMode
from monitor.storage.engine import Database
from monitor.storage.tables import attributions, null_runs, perturbations, records, scores

_RETRYABLE = frozenset({RecordState.SKIPPED, RecordState.FAILED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """What became of the wish to score one record again."""

    record_id: str
    queued: bool
    refused: str | None
    """For people: why it was not queued."""


def retry(database: Database, record_ids: Sequence[str], *, clock: Clock) -> list[Retry]:
    """Queue each of the records again where that is possible; one answer a record, in order.

    A transaction a record: a long list does not hold up the front. A scorer that still works
    on a former attempt loses its lease, as with every record that was taken over.
    """
    return [
        Retry(record_id=record_id, queued=refused is None, refused=refused)
        for record_id in dict.fromkeys(record_ids)
        for refused in [_retried(database, record_id, clock)]
    ]


def _retried(database: Database, record_id: str, clock: Clock) -> str | None:
    """Queue one record; why not, where it cannot be."""
    with database.write() as connection:
        row = connection.execute(
            sa.select(records).where(records.c.id == record_id).with_for_update()
        ).one_or_none()
        if row is None:
            return "no such record; see `hss-monitor records list`"
        refused = _refused(row)
        if refused is not None:
            return refused
        for table in (attributions, null_runs, perturbations, scores):
            connection.execute(sa.delete(table).where(table.c.record_id == record_id))
        connection.execute(
            row_of(record_id).values(
                state=RecordState.QUEUED,
                reason=None,
                detail="",
                finished_at=None,
                observed_at=None,
                attempts=0,
                lease_token=None,
                lease_worker=None,
                lease_until=None,
                not_before=clock(),
                content_bytes=stored_content(row).size,
            )
        )
    return None


def _refused(row: sa.Row[*tuple[Any, ...]]) -> str | None:
    if row.state not in _RETRYABLE:
        return f"it is {row.state.value}; only skipped and failed records are scored again"
    if row.sealed is not None or (row.document is not None and row.summary is not None):
        return None
    if not ContentMode(row.content_mode).keeps_texts:
        return "its content is gone: storage.mode hash_only erases it when a record ends"
    return (
        f"its content was erased at {row.erased_at:%Y-%m-%d %H:%M} (storage.keep_texts_days)"
        if row.erased_at is not None
        else "its content is not stored"
    )
