"""The contract of `ports.RecordQueue`, over both databases."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.errors import LeaseLost, MonitorError
from monitor.ingest.text import MOST_NAME_BYTES
from monitor.records import Reason, RecordState
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.tables import null_runs, perturbations, records, scores
from monitor.storage.types import UnstorableValue

TRACE, SPAN = "a" * 32, "b" * 16


def rows_of(database: Database, table: sa.Table) -> list[Any]:
    with database.read() as connection:
        return list(connection.execute(sa.select(table)).mappings())


def test_a_leased_record_is_the_record_that_came_in(
    queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """A scorer works on what ingest saw, request and spare choices included."""
    item = make_sampled(
        category="politics", release="1.2", trace_id=TRACE, span_id=SPAN, document="😀 שלום\r\n\t"
    )
    assert queue.accept([item]) == [True]
    [leased] = queue.lease("w", count=5, seconds=60)
    assert leased.record == item.record
    assert leased.lease.attempt == 1


def test_a_text_that_a_database_cannot_hold_keeps_its_length(
    queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """NUL and lone surrogates must neither fail nor move the offsets behind them."""
    queue.accept([make_sampled(document="a\x00b\ud800c")])
    [leased] = queue.lease("w", count=1, seconds=60)
    assert leased.record.document == "a\ufffdb\ufffdc"


def test_the_longest_names_fit_into_every_index(queue: SqlRecordQueue, make_sampled: Any) -> None:
    """PostgreSQL refuses longer entries, even compressed; ingest lets no longer names through."""
    noise = "".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(32))
    names = [noise[start : start + MOST_NAME_BYTES] for start in range(0, 2048, MOST_NAME_BYTES)]
    own_id, service, model, category = names
    item = make_sampled(own_id, service=service, model=model, category=category)
    assert queue.accept([item]) == [True]


def test_a_known_id_is_not_queued_again(queue: SqlRecordQueue, make_sampled: Any) -> None:
    """Senders repeat what they got no answer for."""
    assert queue.accept([make_sampled("a"), make_sampled("b"), make_sampled("a")]) == [
        True,
        True,
        False,
    ]
    assert queue.accept([make_sampled("c"), make_sampled("a")]) == [True, False]
    assert queue.counts()[RecordState.QUEUED] == 3


def test_a_record_without_an_own_id_is_known_by_its_span(
    queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """A client that posts a record and a tracer that reports the same call count once."""
    span = {"trace_id": TRACE, "span_id": SPAN}
    other = {"trace_id": TRACE, "span_id": "c" * 16}
    together = [make_sampled("other", **other), make_sampled(f"{TRACE}-{'c' * 16}", **other)]
    assert queue.accept(together) == [True, False]
    assert queue.accept([make_sampled("own", **span)]) == [True]
    assert queue.accept([make_sampled(f"{TRACE}-{SPAN}", **span)]) == [False]


def test_records_with_own_ids_may_share_a_span(queue: SqlRecordQueue, make_sampled: Any) -> None:
    """One span may cover a batch of summaries that the sender tells apart by id."""
    span = {"trace_id": TRACE, "span_id": SPAN}
    assert queue.accept([make_sampled("one", **span), make_sampled("two", **span)]) == [True, True]


def test_a_refused_batch_leaves_nothing(queue: SqlRecordQueue, make_sampled: Any) -> None:
    """All or nothing: the sender repeats the whole batch."""
    broken = make_sampled("bad", probability=math.nan)
    with pytest.raises(UnstorableValue, match="probability: nan"):
        queue.accept([make_sampled("good"), broken])
    assert queue.counts()[RecordState.QUEUED] == 0


def test_leases_go_to_the_oldest_records_first(queue: SqlRecordQueue, make_sampled: Any) -> None:
    """A backlog is worked off in the order of arrival."""
    queue.accept([make_sampled(name, seconds=-age) for name, age in [("a", 1), ("b", 9), ("c", 5)]])
    assert [x.record.id for x in queue.lease("w", count=2, seconds=60)] == ["b", "c"]
    assert [x.record.id for x in queue.lease("v", count=2, seconds=60)] == ["a"]
    assert queue.lease("w", count=2, seconds=60) == []


def test_a_lease_that_ran_out_is_taken_over(
    queue: SqlRecordQueue, clock: Any, make_sampled: Any, make_result: Any, database: Database
) -> None:
    """A dead scorer's record is scored by another, and the late result is refused whole."""
    queue.accept([make_sampled()])
    [first] = queue.lease("w", count=1, seconds=60)
    clock.advance(61)
    [second] = queue.lease("v", count=1, seconds=60)
    assert second.lease.attempt == 2
    with pytest.raises(LeaseLost):
        queue.finish(first.lease, make_result())
    with pytest.raises(LeaseLost):
        queue.extend(first.lease, seconds=60)
    with pytest.raises(LeaseLost):
        queue.put_back(first.lease, delay=0)
    assert rows_of(database, scores) == rows_of(database, perturbations) == []
    queue.finish(second.lease, make_result())
    assert queue.counts()[RecordState.SCORED] == 1


def test_a_late_result_counts_where_nobody_took_over(
    queue: SqlRecordQueue, clock: Any, make_sampled: Any, make_result: Any
) -> None:
    """Work that is done is not thrown away for being slow."""
    queue.accept([make_sampled()])
    [leased] = queue.lease("w", count=1, seconds=60)
    clock.advance(600)
    queue.finish(leased.lease, make_result())
    assert queue.counts()[RecordState.SCORED] == 1


def test_a_clock_that_was_set_back_holds_nothing_up(
    queue: SqlRecordQueue, make_sampled: Any, clock: Any
) -> None:
    """What waited, what was put back and what a dead worker holds, for an hour otherwise."""
    queue.accept([make_sampled("dead"), make_sampled("waits", seconds=1)])
    [dead] = queue.lease("dies", count=1, seconds=60)
    clock.advance(-3600)
    taken = queue.lease("w", count=5, seconds=60)
    assert [(item.record.id, item.lease.attempt) for item in taken] == [("dead", 2), ("waits", 1)]
    with pytest.raises(LeaseLost):
        queue.extend(dead.lease, seconds=60)
    assert queue.lease("other", count=5, seconds=60) == []
    queue.put_back(taken[1].lease, delay=600)
    assert queue.lease("other", count=5, seconds=60) == []


def test_an_extended_lease_is_not_taken_over(
    queue: SqlRecordQueue, clock: Any, make_sampled: Any
) -> None:
    """A long record is kept alive by its scorer."""
    queue.accept([make_sampled()])
    [leased] = queue.lease("w", count=1, seconds=60)
    clock.advance(50)
    extended = queue.extend(leased.lease, seconds=60)
    assert (extended.until - clock.now).total_seconds() == 60
    clock.advance(50)
    assert queue.lease("v", count=1, seconds=60) == []


def test_used_up_attempts_end_in_failed(
    queue: SqlRecordQueue, clock: Any, make_sampled: Any, database: Database
) -> None:
    """A record that kills its scorer must not kill scorers for ever; others behind it go on."""
    queue.accept([make_sampled("deadly"), make_sampled("good", seconds=500)])
    for _ in range(2):
        assert [x.record.id for x in queue.lease("w", count=1, seconds=60)] == ["deadly"]
        clock.advance(61)
    clock.advance(500)
    assert [x.record.id for x in queue.lease("w", count=1, seconds=60)] == ["good"]
    [row] = [row for row in rows_of(database, records) if row["id"] == "deadly"]
    assert (row["state"], row["reason"]) == (RecordState.FAILED, Reason.ATTEMPTS_EXHAUSTED)
    assert row["finished_at"] == clock.now


@pytest.mark.parametrize(("counts", "attempt"), [(True, 2), (False, 1)])
def test_a_record_that_was_put_back_waits_and_may_keep_its_attempt(
    queue: SqlRecordQueue, clock: Any, make_sampled: Any, counts: bool, attempt: int
) -> None:
    """A throttled summarizer is no fault of the record."""
    queue.accept([make_sampled()])
    [leased] = queue.lease("w", count=1, seconds=60)
    queue.put_back(leased.lease, delay=30, counts=counts)
    assert queue.counts()[RecordState.QUEUED] == 1
    clock.advance(29)
    assert queue.lease("w", count=1, seconds=60) == []
    clock.advance(2)
    assert [x.lease.attempt for x in queue.lease("w", count=1, seconds=60)] == [attempt]


def test_finishing_again_with_the_same_lease_changes_nothing(
    queue: SqlRecordQueue, make_sampled: Any, make_result: Any, database: Database
) -> None:
    """A scorer whose connection broke during the commit may try again."""
    queue.accept([make_sampled()])
    [leased] = queue.lease("w", count=1, seconds=60)
    queue.finish(leased.lease, make_result(hss=0.25))
    queue.finish(leased.lease, make_result(hss=0.75))
    assert [row["hss"] for row in rows_of(database, scores)] == [0.25]
    assert queue.lease("w", count=1, seconds=60) == []


@pytest.mark.parametrize("field", ["raw_distance", "excess", "core_seconds"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_none_is_refused_and_nothing_is_written(
    queue: SqlRecordQueue,
    make_sampled: Any,
    make_result: Any,
    database: Database,
    field: str,
    value: float,
) -> None:
    """Missing is NULL with a reason; SQLite would turn a NaN into NULL in silence."""
    queue.accept([make_sampled()])
    [leased] = queue.lease("w", count=1, seconds=60)
    with pytest.raises(UnstorableValue, match=field):
        queue.finish(leased.lease, make_result(**{field: value}))
    tables = (scores, perturbations, null_runs)
    assert [rows_of(database, table) for table in tables] == [[], [], []]
    assert queue.counts()[RecordState.LEASED] == 1


def test_a_result_of_another_record_or_an_open_state_is_refused(
    queue: SqlRecordQueue, make_sampled: Any, make_result: Any
) -> None:
    """A lease ends with the final result of its own record."""
    queue.accept([make_sampled()])
    [leased] = queue.lease("w", count=1, seconds=60)
    with pytest.raises(MonitorError, match="'other'"):
        queue.finish(leased.lease, make_result("other"))
    with pytest.raises(MonitorError, match="'queued'"):
        queue.finish(leased.lease, make_result(state=RecordState.QUEUED))


def test_what_waits_is_queued_or_leased(
    queue: SqlRecordQueue, make_sampled: Any, make_result: Any
) -> None:
    """Ingest refuses by it; what is final waits for nobody."""
    queue.accept([make_sampled(name) for name in "abc"])
    first, _ = queue.lease("w", count=2, seconds=60)
    queue.finish(first.lease, make_result("a"))
    assert queue.waiting() == 2


def test_counts_name_every_state_and_age_is_that_of_the_oldest_waiting_record(
    queue: SqlRecordQueue, clock: Any, make_sampled: Any
) -> None:
    """A gauge needs zeros too; an empty queue has no age."""
    assert queue.oldest_queued_age() is None
    queue.accept([make_sampled("a", seconds=-40), make_sampled("b", seconds=-30)])
    queue.lease("w", count=1, seconds=60)
    clock.advance(10)
    assert queue.oldest_queued_age() == 40
    assert queue.counts() == {
        RecordState.QUEUED: 1,
        RecordState.LEASED: 1,
        RecordState.SCORED: 0,
        RecordState.SKIPPED: 0,
        RecordState.FAILED: 0,
    }


def test_the_last_score_is_the_one_that_ended_last(
    queue: SqlRecordQueue, make_sampled: Any, make_result: Any, clock: Any
) -> None:
    """An old record that is scored again shows that scorers work; by the time of arrival it would
    not, and somebody would be paged."""
    assert queue.last_scored_at() is None
    queue.accept([make_sampled("old"), make_sampled("young", seconds=1)])
    clock.advance(60)
    old, young = queue.lease("w", count=2, seconds=600)
    queue.finish(young.lease, make_result("young"))
    clock.advance(60)
    queue.finish(old.lease, make_result("old"))
    last = clock()
    clock.advance(60)
    queue.accept([make_sampled("skipped", seconds=2)])
    [leased] = queue.lease("w", count=1, seconds=600)
    skipped = {"state": RecordState.SKIPPED, "reason": Reason.EMPTY_SUMMARY}
    queue.finish(leased.lease, make_result("skipped", **skipped))
    assert queue.last_scored_at() == last


def test_a_large_batch_is_one_transaction(queue: SqlRecordQueue, make_sampled: Any) -> None:
    """More rows than a statement has room for parameters."""
    batch = [make_sampled(f"r{index:05}") for index in range(3000)]
    assert queue.accept(batch) == [True] * 3000
    assert queue.accept(batch) == [False] * 3000
