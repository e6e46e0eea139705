"""The queue between the front and the scorers, as a table.

A record is claimed by writing a fresh token into its row; whoever writes later must show
that token. SQLite has one writer at a time (`BEGIN IMMEDIATE`), PostgreSQL hands each
worker rows that nobody else holds (`FOR UPDATE SKIP LOCKED`). A worker that dies needs
no care: its lease runs out and the row can be claimed again.

Times come from the clock that is handed in. Machines that share a database should agree
to within a few seconds: a clock that runs ahead takes leases over that much too early. A clock
that is set back by hours holds nothing up: see `clockwork.due`.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy import Connection, Row

from monitor.errors import MonitorError, choices
from monitor.ports import Clock
from monitor.records import (
    Lease,
    LeasedRecord,
    Reason,
    RecordState,
    SampledRecord,
    ScoredRecord,
)
from monitor.storage.arrival import insert_new
from monitor.storage.claims import claimable, incoming, locked, require_held, row_of, stored_content
from monitor.storage.content import ContentCodec, ContentMode, TextHash
from monitor.storage.engine import Database
from monitor.storage.outlet_tables import is_scored
from monitor.storage.results import result_rows
from monitor.storage.tables import (
    ERASED,
    FINAL_STATES,
    IS_OPEN,
    attributions,
    null_runs,
    perturbations,
    records,
    scores,
)

_log = structlog.get_logger(__name__)

_ROUNDS: Final = 20
"""Claims that end at once (exhausted, content lost) are made up for by more, so often."""

_EXHAUSTED = "every attempt ended without a result; see the log of the scorers"
_LOST = "the queued content cannot be read: it was erased, or its key is gone"


class SqlRecordQueue:
    """`ports.RecordQueue` on either database; may be used from many threads.

    Every method raises `DatabaseUnavailable` where the database does not answer.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        codec: ContentCodec,
        text_hash: TextHash,
        max_attempts: int = 3,
    ) -> None:
        self._database = database
        self._clock = clock
        self._codec = codec
        self._hash = text_hash
        self._max_attempts = max_attempts

    def accept(self, records: Sequence[SampledRecord]) -> list[bool]:
        """See `ports.RecordQueue.accept`."""
        if not records:
            return []
        with self._database.write() as connection:
            return insert_new(connection, records, codec=self._codec, text_hash=self._hash)

    def lease(self, worker: str, *, count: int, seconds: float) -> list[LeasedRecord]:
        """See `ports.RecordQueue.lease`; unreadable content is skipped as `content_lost`."""
        now = self._clock()
        until = now + timedelta(seconds=seconds)
        leased: list[LeasedRecord] = []
        with self._database.write() as connection:
            for _ in range(_ROUNDS):
                wanted = count - len(leased)
                oldest = claimable(now, wanted, seconds=seconds)
                rows = connection.execute(oldest).all() if wanted > 0 else []
                for row in rows:
                    claimed = self._claim(connection, row, worker=worker, now=now, until=until)
                    if claimed is not None:
                        leased.append(claimed)
                if not rows:
                    break
        return leased

    def extend(self, lease: Lease, *, seconds: float) -> Lease:
        """See `ports.RecordQueue.extend`; raises `LeaseLost`."""
        until = self._clock() + timedelta(seconds=seconds)
        with self._database.write() as connection:
            self._held(connection, lease)
            connection.execute(row_of(lease.record_id).values(lease_until=until, not_before=until))
        return replace(lease, until=until)

    def finish(self, lease: Lease, result: ScoredRecord) -> None:
        """See `ports.RecordQueue.finish`; raises `LeaseLost`, and then nothing was written.

        Repeated with the lease that already finished the record it does nothing: a scorer
        whose connection broke during the commit may simply try again.
        """
        if result.record_id != lease.record_id or result.state not in FINAL_STATES:
            raise MonitorError(
                f"result: record {result.record_id!r} in state {result.state.value!r} cannot end "
                f"the lease of {lease.record_id!r}; give that record, {choices(FINAL_STATES)}"
            )
        with self._database.write() as connection:
            row = locked(connection, lease)
            if row is not None and row.lease_token == lease.token and row.state in FINAL_STATES:
                return
            row = require_held(row, lease)
            keep = ContentMode(row.content_mode).kept_under(self._codec.mode)
            rows = result_rows(result, text_hash=self._hash, keep_texts=keep)
            self._end(
                connection,
                lease.record_id,
                keep=keep,
                state=result.state,
                reason=result.reason,
                detail=result.detail,
                category=result.category,
                content_bytes=(records.c.content_bytes if keep else 0) + rows.size,
            )
            connection.execute(sa.insert(scores), rows.score)
            if rows.perturbations:
                connection.execute(sa.insert(perturbations), rows.perturbations)
            if rows.null_runs:
                connection.execute(sa.insert(null_runs), rows.null_runs)
            if rows.attributions:
                connection.execute(sa.insert(attributions), rows.attributions)

    def put_back(self, lease: Lease, *, delay: float, counts: bool = True) -> None:
        """See `ports.RecordQueue.put_back`; raises `LeaseLost`."""
        with self._database.write() as connection:
            self._held(connection, lease)
            connection.execute(
                row_of(lease.record_id).values(
                    state=RecordState.QUEUED,
                    attempts=records.c.attempts - (0 if counts else 1),
                    lease_token=None,
                    lease_worker=None,
                    lease_until=None,
                    not_before=self._clock() + timedelta(seconds=delay),
                )
            )

    def waiting(self) -> int:
        """Records that are not final, queued or leased; costs as much as there are of them."""
        statement = sa.select(sa.func.count()).select_from(records).where(sa.text(IS_OPEN))
        with self._database.read() as connection:
            return connection.execute(statement).scalar_one()

    def counts(self) -> dict[RecordState, int]:
        """Records by state, zeros included."""
        statement = sa.select(records.c.state, sa.func.count()).group_by(records.c.state)
        with self._database.read() as connection:
            found = dict(connection.execute(statement).all())
        return {state: found.get(state, 0) for state in RecordState}

    def oldest_queued_age(self) -> float | None:
        """Seconds since the oldest waiting record came in; None where none waits."""
        statement = sa.select(sa.func.min(records.c.received_at)).where(
            records.c.state == RecordState.QUEUED
        )
        with self._database.read() as connection:
            oldest = connection.execute(statement).scalar_one()
        return None if oldest is None else max(0.0, (self._clock() - oldest).total_seconds())

    def last_scored_at(self) -> datetime | None:
        """When a record was scored last, however long ago it came in; None before the first."""
        statement = (
            sa.select(records.c.finished_at)
            .where(is_scored(self._database))
            .order_by(records.c.finished_at.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            return connection.execute(statement).scalar_one_or_none()

    def _claim(
        self,
        connection: Connection,
        row: Row[*tuple[Any, ...]],
        *,
        worker: str,
        now: datetime,
        until: datetime,
    ) -> LeasedRecord | None:
        """Lease one locked row, or end it where it cannot be scored any more."""
        keep = ContentMode(row.content_mode).kept_under(self._codec.mode)
        if row.attempts >= self._max_attempts:
            self._give_up(connection, row.id, keep, RecordState.FAILED, Reason.ATTEMPTS_EXHAUSTED)
            return None
        content = self._codec.load(row.id, stored_content(row))
        if content is None:
            self._give_up(connection, row.id, keep, RecordState.SKIPPED, Reason.CONTENT_LOST)
            return None
        lease = Lease(
            record_id=row.id,
            token=secrets.token_hex(16),
            worker=worker,
            until=until,
            attempt=row.attempts + 1,
        )
        connection.execute(
            row_of(row.id).values(
                state=RecordState.LEASED,
                attempts=lease.attempt,
                lease_token=lease.token,
                lease_worker=worker,
                lease_until=until,
                not_before=until,
            )
        )
        if row.state is RecordState.LEASED:
            _log.warning(
                "lease_taken_over", record_id=row.id, trace_id=row.trace_id, attempt=lease.attempt
            )
        return LeasedRecord(lease=lease, record=incoming(row, content))

    def _give_up(
        self, connection: Connection, record_id: str, keep: bool, state: RecordState, reason: Reason
    ) -> None:
        detail = _EXHAUSTED if reason is Reason.ATTEMPTS_EXHAUSTED else _LOST
        self._end(
            connection,
            record_id,
            keep=keep,
            state=state,
            reason=reason,
            detail=detail,
            lease_token=None,
        )
        _log.warning("record_given_up", record_id=record_id, reason=reason.value)

    def _end(self, connection: Connection, record_id: str, *, keep: bool, **values: Any) -> None:
        """Make a record final; its texts go where they are not to be kept."""
        now = self._clock()
        if not keep:
            values |= {**ERASED, "erased_at": now}
        connection.execute(
            row_of(record_id).values(finished_at=now, lease_worker=None, lease_until=None, **values)
        )

    def _held(self, connection: Connection, lease: Lease) -> None:
        require_held(locked(connection, lease), lease)
