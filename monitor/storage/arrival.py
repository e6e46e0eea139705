"""The first half of the queue: records become rows, each of them once.

A record is known by its id. One that came without an id of its own (its id was made of
its trace and span) is also known when any record of that trace and span is stored: the
same call may be reported by a client with an id and by its tracer without one.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from monitor.records import IncomingRecord, RecordState, SampledRecord
from monitor.storage.content import ContentCodec, TextHash
from monitor.storage.tables import records
from monitor.storage.types import clean_text

_LOCK: Final = 0x68_73_73
_BUCKETS: Final = 64
_CHUNK: Final = 500

Span = tuple[str, str]


def insert_new(
    connection: Connection,
    batch: Sequence[SampledRecord],
    *,
    codec: ContentCodec,
    text_hash: TextHash,
) -> list[bool]:
    """Insert what is not known yet, inside the caller's transaction; one answer a record."""
    on_sqlite = connection.dialect.name == "sqlite"
    if not on_sqlite:
        _lock_spans(connection, batch)
    spans = _known_spans(connection, batch)
    fresh: dict[str, int] = {}
    for index, item in enumerate(batch):
        # As the column will hold it: RETURNING and the seal speak of the stored id.
        record_id, span = clean_text(item.record.id), _span(item.record)
        if record_id in fresh or (_has_derived_id(item.record) and span in spans):
            continue
        fresh[record_id] = index
        if span is not None:
            spans.add(span)
    # In one order everywhere: two fronts that insert the same ids cannot deadlock.
    rows = [
        _row(record_id, batch[fresh[record_id]], codec, text_hash) for record_id in sorted(fresh)
    ]
    if not rows:
        return [False] * len(batch)
    insert = sqlite.insert(records) if on_sqlite else postgresql.insert(records)
    taken = connection.execute(
        insert.on_conflict_do_nothing().returning(records.c.id), rows
    ).scalars()
    new = {fresh[record_id] for record_id in taken}
    return [index in new for index in range(len(batch))]


def _span(record: IncomingRecord) -> Span | None:
    if record.trace_id is None or record.span_id is None:
        return None
    return record.trace_id, record.span_id


def _has_derived_id(record: IncomingRecord) -> bool:
    return record.id == f"{record.trace_id}-{record.span_id}"


def _known_spans(connection: Connection, batch: Sequence[SampledRecord]) -> set[Span]:
    """(trace, span) of stored records, for the records that such a pair identifies."""
    traces = sorted({item.record.trace_id or "" for item in batch if _has_derived_id(item.record)})
    known: set[Span] = set()
    for start in range(0, len(traces), _CHUNK):
        rows = connection.execute(
            sa.select(records.c.trace_id, records.c.span_id).where(
                records.c.trace_id.in_(traces[start : start + _CHUNK]),
                records.c.span_id.is_not(None),
            )
        )
        known.update(
            (trace, span) for trace, span in rows if trace is not None and span is not None
        )
    return known


def _lock_spans(connection: Connection, batch: Sequence[SampledRecord]) -> None:
    """Keep two PostgreSQL fronts from looking for the same span before either inserts it.

    No unique constraint can do it: records with ids of their own may share a span. Buckets
    instead of one lock a span keep PostgreSQL's lock table small; their order prevents
    deadlocks. The locks end with the transaction.
    """
    spans = {span for item in batch if (span := _span(item.record)) is not None}
    for bucket in sorted({zlib.crc32("-".join(span).encode()) % _BUCKETS for span in spans}):
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK, bucket)))


def _row(
    record_id: str, item: SampledRecord, codec: ContentCodec, text_hash: TextHash
) -> dict[str, Any]:
    record, decision = item.record, item.decision
    content = codec.store(replace(record, id=record_id))
    return {
        "id": record_id,
        "state": RecordState.QUEUED,
        "detail": "",
        "service": record.service,
        "model": record.model,
        "category": record.category,
        "release": record.release,
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "received_at": record.received_at,
        "started_at": record.started_at,
        "content_mode": codec.mode,
        "document": content.document,
        "summary": content.summary,
        "request": content.request,
        "alternatives": content.alternatives,
        "sealed": content.sealed,
        "document_hash": text_hash(record.document),
        "summary_hash": text_hash(record.summary),
        "content_bytes": content.size,
        "stratum_service": decision.stratum.service,
        "stratum_model": decision.stratum.model,
        "stratum_category": decision.stratum.category,
        "probability": decision.probability,
        "upstream_probability": record.upstream_probability,
        "epoch": decision.epoch,
        "front": item.front,
        "attempts": 0,
        "not_before": record.received_at,
    }
