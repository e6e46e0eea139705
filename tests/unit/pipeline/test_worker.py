"""The scorer's loop: leases, retries, and a defect that costs one record only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from monitor import worker as worker_module
from monitor.errors import DatabaseUnavailable, LeaseLost
from monitor.records import (
    IncomingRecord,
    Lease,
    LeasedRecord,
    Reason,
    RecordState,
    ScoredRecord,
)
from monitor.worker import RETRY_PAUSE, THROTTLE_PAUSE, Worker

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _record(record_id: str) -> IncomingRecord:
    return IncomingRecord(
        id=record_id, document="d", summary="s", service="x", model="m", received_at=NOW
    )


def _result(record: IncomingRecord, state: RecordState, reason: Reason | None) -> ScoredRecord:
    return ScoredRecord(
        record_id=record.id,
        state=state,
        reason=reason,
        detail="",
        category="",
        scored_at=NOW,
        fingerprint="f",
    )


class Queue:
    """Hands each record out once, and notes what the worker does with it."""

    def __init__(self, *ids: str, attempt: int = 1) -> None:
        self.waiting = list(ids)
        self.attempt = attempt
        self.finished: list[ScoredRecord] = []
        self.returned: list[tuple[str, float, bool]] = []
        self.extended = 0
        self.lost = False
        self.down = 0
        """Times that the database does not answer."""

    def lease(self, worker: str, *, count: int, seconds: float) -> list[LeasedRecord]:
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return [
            LeasedRecord(
                record=_record(key),
                lease=Lease(
                    record_id=key,
                    token=f"t{key}",
                    worker=worker,
                    until=NOW + timedelta(seconds=seconds),
                    attempt=self.attempt,
                ),
            )
            for key in taken
        ]

    def extend(self, lease: Lease, *, seconds: float) -> Lease:
        if self.lost:
            raise LeaseLost
        self.extended += 1
        return replace(lease, until=NOW + timedelta(seconds=seconds))

    def finish(self, lease: Lease, result: ScoredRecord) -> None:
        if self.lost:
            raise LeaseLost
        if self.down:
            self.down -= 1
            raise DatabaseUnavailable
        self.finished.append(result)

    def put_back(self, lease: Lease, *, delay: float, counts: bool = True) -> None:
        self.returned.append((lease.record_id, delay, counts))


def _worker(
    queue: Queue, score: Callable[[IncomingRecord], ScoredRecord], *, lease_seconds: float = 60
) -> Worker:
    return Worker(
        queue,  # type: ignore[arg-type] # accept() is the front's side of the queue
        score,
        worker="w",
        lease_seconds=lease_seconds,
        max_attempts=3,
        fingerprint="f",
        clock=lambda: NOW,
    )


def test_the_queue_is_drained_in_one_turn() -> None:
    """Five waiting records are all finished before the worker pauses."""
    queue = Queue(*"abcde")
    worker = _worker(queue, lambda record: _result(record, RecordState.SCORED, None))
    assert worker.drain() == 5
    assert [result.record_id for result in queue.finished] == list("abcde")


def test_a_failure_is_tried_again_with_growing_pauses() -> None:
    """The second attempt waits twice as long as the first."""
    for attempt, pause in ((1, RETRY_PAUSE), (2, 2 * RETRY_PAUSE)):
        queue = Queue("a", attempt=attempt)
        _worker(queue, lambda r: _result(r, RecordState.FAILED, Reason.SUMMARIZER_ERROR)).drain()
        assert queue.returned == [("a", pause, True)]


def test_the_last_attempt_is_final() -> None:
    """`execution.max_attempts` = 3: the third failure is stored with its reason."""
    queue = Queue("a", attempt=3)
    _worker(queue, lambda r: _result(r, RecordState.FAILED, Reason.SUMMARIZER_ERROR)).drain()
    assert [result.reason for result in queue.finished] == [Reason.SUMMARIZER_ERROR]


def test_a_throttled_record_waits_without_losing_an_attempt() -> None:
    """A 429 says nothing about the record."""
    queue = Queue("a", attempt=3)
    _worker(queue, lambda r: _result(r, RecordState.FAILED, Reason.SUMMARIZER_THROTTLED)).drain()
    assert queue.returned == [("a", THROTTLE_PAUSE, False)]


def test_a_defect_fails_its_record_and_spares_the_next() -> None:
    """A poisoned document must not stop the queue; its text must not reach the detail."""

    def score(record: IncomingRecord) -> ScoredRecord:
        if record.id == "a":
            raise RuntimeError("secret text of the document")
        return _result(record, RecordState.SCORED, None)

    queue = Queue("a", "b", attempt=3)
    _worker(queue, score).drain()
    first, second = queue.finished
    assert (first.state, first.reason) == (RecordState.FAILED, Reason.INTERNAL_ERROR)
    assert "secret" not in first.detail
    assert second.state is RecordState.SCORED


def test_a_lost_lease_drops_the_result() -> None:
    """Another scorer has the record; storing twice would count it twice."""
    queue = Queue("a")
    queue.lost = True
    worker = _worker(queue, lambda record: _result(record, RecordState.SCORED, None))
    assert worker.drain() == 0
    assert queue.finished == []


def test_a_result_waits_for_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring it again costs a dozen calls of the summarizer; but not beyond its lease."""
    monkeypatch.setattr(worker_module, "STORE_PAUSE", 0.01)
    queue = Queue("a")
    queue.down = 3

    def scored(record: IncomingRecord) -> ScoredRecord:
        return _result(record, RecordState.SCORED, None)

    assert _worker(queue, scored).drain() == 1
    assert len(queue.finished) == 1
    queue.waiting, queue.down = ["b"], 1_000_000
    with pytest.raises(DatabaseUnavailable):
        _worker(queue, scored, lease_seconds=0.05).drain()


def test_a_lease_is_renewed_while_its_record_takes_long() -> None:
    """A long document must not be scored twice."""

    def score(record: IncomingRecord) -> ScoredRecord:
        time.sleep(0.5)
        return _result(record, RecordState.SCORED, None)

    queue = Queue("a")
    _worker(queue, score, lease_seconds=0.3).drain()
    assert queue.extended >= 2
    assert len(queue.finished) == 1


def test_a_stopped_worker_leases_nothing_more() -> None:
    """A rolling update must not cost the waiting record an attempt or a lease's time."""
    queue = Queue("a", "b")

    def score(record: IncomingRecord) -> ScoredRecord:
        worker.stop()
        return _result(record, RecordState.SCORED, None)

    worker = _worker(queue, score)
    worker.drain()
    assert [result.record_id for result in queue.finished] == ["a"]
    assert queue.waiting == ["b"]
