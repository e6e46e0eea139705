"""The composition root of a scorer: the process that holds the models.

It leases records from the queue, scores them and stores the results. It may die at any
moment: its leases run out and another scorer takes the records up.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import structlog

from monitor.calibrating import note_fingerprint
from monitor.child import Stopping
from monitor.ingest.redaction import Redaction
from monitor.recent import Recent
from monitor.records import IncomingRecord, ScoredRecord
from monitor.scheduler import Job, background
from monitor.settings import Settings
from monitor.stores import Stores, now
from monitor.workbench import Workbench, build
from monitor.worker import Worker

log = structlog.get_logger(__name__)

BREACH_SECONDS = 5.0
"""How old the knowledge of open breaches may be."""


def serve(settings: Settings, stores: Stores, *, child: bool) -> None:
    """Score what is queued until told to stop: by a signal, or as a `child` by its front's end."""
    stopping = Stopping()
    stopping.listen(child=child)
    score_queue(settings, stores, stopping)


def scoring_of(settings: Settings, bench: Workbench) -> Callable[[IncomingRecord], ScoredRecord]:
    """The pipeline; in `redacted` mode behind a redaction of what was queued in clear before."""
    if settings.storage.mode != "redacted":
        return bench.pipeline.score
    redaction = Redaction(patterns=settings.redaction.patterns)
    return lambda record: bench.pipeline.score(redaction.record(record))


def score_queue(settings: Settings, stores: Stores, stopping: Stopping) -> None:
    """Load the models, then lease, score and store until asked to stop.

    The record at hand is finished before this returns.
    """
    bench = build(
        settings,
        stores.calibrations,
        open_series=Recent(stores.breaches.open_series, seconds=BREACH_SECONDS),
    )
    note_fingerprint(stores, bench.fingerprint, bench.made_of)
    worker = Worker(
        stores.queue,
        scoring_of(settings, bench),
        worker=f"{socket.gethostname()}:{os.getpid()}",
        lease_seconds=settings.execution.lease_seconds,
        max_attempts=settings.execution.max_attempts,
        fingerprint=bench.fingerprint,
        clock=now,
    )
    stopping.then(worker.stop)
    job = Job(name="claim_and_score", seconds=settings.execution.poll_seconds, run=worker.drain)
    scheduler = background([job], count=lambda job, outcome: None)
    log.info("scorer_ready", fingerprint=bench.fingerprint)
    scheduler.start()
    stopping.wait()
    scheduler.shutdown(wait=True)
