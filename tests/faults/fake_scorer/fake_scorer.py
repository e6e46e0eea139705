"""Stands in for `monitor.scorer`: the real worker and queue, and a score that obeys the document.

`sleep 0.5` takes so long, `die` kills the process, anything else is scored at once.
"""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime

from monitor.child import Stopping
from monitor.records import IncomingRecord, RecordState, ScoredRecord
from monitor.settings import Settings
from monitor.stores import Stores, now
from monitor.worker import Worker


def score(record: IncomingRecord) -> ScoredRecord:
    order, *words = record.document.split()
    if order == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "sleep":
        time.sleep(float(words[0]))
    return ScoredRecord(
        record_id=record.id,
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category="general",
        scored_at=datetime.now(UTC),
        fingerprint="fp",
    )


def serve(settings: Settings, stores: Stores, *, child: bool) -> None:
    stopping = Stopping()
    stopping.listen(child=child)
    score_queue(settings, stores, stopping)


def score_queue(settings: Settings, stores: Stores, stopping: Stopping) -> None:
    worker = Worker(
        stores.queue,
        score,
        worker=str(os.getpid()),
        lease_seconds=settings.execution.lease_seconds,
        max_attempts=settings.execution.max_attempts,
        fingerprint="fp",
        clock=now,
    )
    stopping.then(worker.stop)
    while not stopping.wait(settings.execution.poll_seconds):
        worker.drain()
