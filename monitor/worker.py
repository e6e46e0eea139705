"""Leasing, scoring, storing: the loop of a scorer, apart from what it scores with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from monitor.errors import DatabaseUnavailable, LeaseLost
from monitor.logs import failure
from monitor.ports import Clock, RecordQueue
from monitor.records import (
    IncomingRecord,
    Lease,
    LeasedRecord,
    Reason,
    RecordState,
    ScoredRecord,
)
from monitor.unscorable import FAILURES

log = structlog.get_logger(__name__)

THROTTLE_PAUSE = 30.0
"""Seconds that a record waits when the summarizer is throttled or a budget is used up."""
RETRY_PAUSE = 10.0
"""Seconds before a second attempt; doubles with each further one, up to the longest."""
LONGEST_PAUSE = 600.0
STORE_PAUSE = 2.0
"""Seconds before a result is stored again."""


class Worker:
    """Leases, scores, stores, until it is told to stop.

    A failure of the summarizer is tried again later, as often as `max_attempts` allows; a
    throttled one or a used-up budget does not count as an attempt. A defect of our own in
    one record fails that record, never the scorer.
    """

    def __init__(
        self,
        queue: RecordQueue,
        score: Callable[[IncomingRecord], ScoredRecord],
        *,
        worker: str,
        lease_seconds: float,
        max_attempts: int,
        fingerprint: str,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._score = score
        self._worker = worker
        self._lease_seconds = lease_seconds
        self._max_attempts = max_attempts
        self._fingerprint = fingerprint
        self._clock = clock
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End after the record at hand."""
        self._stopping.set()

    def drain(self) -> int:
        """Score until the queue has nothing to lease; returns how many were finished.

        One record at a time: a lease costs milliseconds and scoring seconds, and a record that
        waited here under a lease could be taken over by another scorer meanwhile.
        """
        finished = 0
        while not self._stopping.is_set():
            leased = self._queue.lease(self._worker, count=1, seconds=self._lease_seconds)
            if not leased:
                break
            finished += self._one(leased[0])
        return finished

    def _one(self, item: LeasedRecord) -> bool:
        with structlog.contextvars.bound_contextvars(
            record=item.record.id, trace_id=item.record.trace_id
        ):
            keeper = _LeaseKeeper(self._queue, item.lease, self._lease_seconds)
            try:
                with keeper:
                    result = self._scored(item)
                return self._store(keeper.lease, result, attempt=item.lease.attempt)
            except LeaseLost:
                log.warning("lease_lost")
                return False

    def _scored(self, item: LeasedRecord) -> ScoredRecord:
        try:
            return self._score(item.record)
        except Exception as error:  # a defect must not cost the other records their scorer
            log.error("scoring_failed", **failure(error))
            return ScoredRecord(
                record_id=item.record.id,
                state=RecordState.FAILED,
                reason=Reason.INTERNAL_ERROR,
                detail=f"{type(error).__name__}; the scorer's log has its frames",
                category=item.record.category or "",
                scored_at=self._clock(),
                fingerprint=self._fingerprint,
            )

    def _store(self, lease: Lease, result: ScoredRecord, *, attempt: int) -> bool:
        if result.reason in {Reason.SUMMARIZER_THROTTLED, Reason.OVER_BUDGET}:
            log.warning("record_postponed", reason=result.reason, detail=result.detail)
            self._queue.put_back(lease, delay=THROTTLE_PAUSE, counts=False)
            return False
        if result.reason in FAILURES and attempt < self._max_attempts:
            log.warning("record_retried", reason=result.reason, detail=result.detail)
            delay = min(RETRY_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
            self._queue.put_back(lease, delay=delay)
            return False
        self._finish(lease, result)
        log.info("record_finished", state=result.state, reason=result.reason)
        return True

    def _finish(self, lease: Lease, result: ScoredRecord) -> None:
        """Store what took seconds and calls to find out; a database that is locked or started
        anew answers again, as a rule, before somebody else may take the record over."""
        given_up = time.monotonic() + self._lease_seconds
        while True:
            try:
                return self._queue.finish(lease, result)
            except DatabaseUnavailable as error:
                if time.monotonic() >= given_up or self._stopping.wait(STORE_PAUSE):
                    raise
                log.warning("result_waits", problem=str(error))


class _LeaseKeeper:
    """Renews one lease while its record is being scored."""

    def __init__(self, queue: RecordQueue, lease: Lease, seconds: float) -> None:
        self.lease = lease
        self._queue = queue
        self._seconds = seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> _LeaseKeeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._done.wait(self._seconds / 3):
            try:
                self.lease = self._queue.extend(self.lease, seconds=self._seconds)
            except LeaseLost:
                return  # storing the result will be refused, and says so
            except Exception as error:  # the next turn may reach the database again
                log.warning("lease_not_renewed", **failure(error))
