"""Rows of `records` as the queue claims, checks and reads them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from monitor.errors import LeaseLost
from monitor.records import IncomingRecord, Lease, RecordState
from monitor.storage.clockwork import due
from monitor.storage.content import Content, ContentMode, StoredContent
from monitor.storage.tables import IS_OPEN, records

AnyRow: TypeAlias = Row[*tuple[Any, ...]]
Held: TypeAlias = Row[RecordState, str | None, ContentMode]

_LONGEST_SECONDS: Final = 900.0
"""Of the pauses before another attempt."""


def row_of(record_id: str) -> sa.Update:
    """An update of one record."""
    return sa.update(records).where(records.c.id == record_id)


def claimable(now: datetime, count: int, *, seconds: float) -> sa.Select[*tuple[Any, ...]]:
    """The oldest records that may be claimed for `seconds`, locked; rows locked by others are
    passed over.

    Waiting ones and those whose lease ran out alike: `not_before` says it of both.
    """
    longest = max(_LONGEST_SECONDS, 2 * seconds)
    return (
        sa.select(records)
        .where(sa.text(IS_OPEN), due(records.c.not_before, now, longest=longest))
        .order_by(records.c.received_at, records.c.id)
        .limit(count)
        .with_for_update(skip_locked=True)
    )


def locked(connection: Connection, lease: Lease) -> Held | None:
    """The row that a lease is about, locked against a scorer that takes it over."""
    return connection.execute(
        sa.select(records.c.state, records.c.lease_token, records.c.content_mode)
        .where(records.c.id == lease.record_id)
        .with_for_update()
    ).one_or_none()


def require_held(row: Held | None, lease: Lease) -> Held:
    """The row, where the lease still holds it; raises `LeaseLost` otherwise."""
    if row is None or row.state is not RecordState.LEASED or row.lease_token != lease.token:
        state = "gone" if row is None else row.state.value
        raise LeaseLost(
            f"record {lease.record_id!r}: attempt {lease.attempt} no longer holds it (it is "
            f"{state}); drop the result, or lease for longer"
        )
    return row


def stored_content(row: AnyRow) -> StoredContent:
    """The content columns of a row of `records`."""
    return StoredContent(
        document=row.document,
        summary=row.summary,
        request=row.request,
        alternatives=row.alternatives,
        sealed=row.sealed,
    )


def incoming(row: AnyRow, content: Content) -> IncomingRecord:
    """A row of `records` as the record that once came in."""
    return IncomingRecord(
        id=row.id,
        document=content.document,
        summary=content.summary,
        service=row.service,
        model=row.model,
        received_at=row.received_at,
        category=row.category,
        release=row.release,
        trace_id=row.trace_id,
        span_id=row.span_id,
        started_at=row.started_at,
        request=content.request,
        alternatives=content.alternatives,
        upstream_probability=row.upstream_probability,
    )
