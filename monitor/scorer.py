"""The composition root of a scorer: the process that holds the models.

It leases records from the queue, scores them and stores the results. It may die at any
moment: its leases run out and another scorer takes the records up.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from monitor.embedding.language import load_language
from monitor.embedding.sbert import SbertEncoder, load_encoder
from monitor.embedding.sentences import SentenceSplitter
from monitor.embedding.vectors import load_vectors
from monitor.errors import LeaseLost
from monitor.factuality.overlap import OverlapSupport
from monitor.perturbation.perturber import NeighbourPerturber
from monitor.pipeline import FAILURES, Pipeline, Stages
from monitor.ports import CalibrationStore, RecordQueue, Summarizer
from monitor.records import (
    Calibration,
    IncomingRecord,
    Lease,
    LeasedRecord,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
)
from monitor.sampling.category import NearestCategory
from monitor.scoring.fingerprint import fingerprint
from monitor.scoring.normalization import normalizer_for
from monitor.scoring.provisional import provisional
from monitor.scoring.severity import severity
from monitor.scoring.transport import transport
from monitor.settings import Settings
from monitor.summarizers import summarizer_of

log = structlog.get_logger(__name__)

THROTTLE_PAUSE = 30.0
"""Seconds that a record waits when the summarizer is throttled or a budget is used up."""
RETRY_PAUSE = 10.0


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Workbench:
    """The loaded stages of one scorer."""

    pipeline: Pipeline
    summarizer: Summarizer
    perturber: NeighbourPerturber
    encoder: SbertEncoder
    fingerprint: str
    made_of: dict[str, Any]
    """What the fingerprint stands for."""


def build(settings: Settings, calibrations: CalibrationStore | None) -> Workbench:
    """Load every model that the settings name and put the pipeline together.

    Without a store only the calibration that ships with the package can apply. Raises
    `ModelUnavailable` naming the key, the value and the remedy.
    """
    threads = settings.models.threads or max(1, (os.cpu_count() or 1) // settings.execution.scorers)
    language = load_language(settings.perturbation.language_model)
    splitter = SentenceSplitter(language)
    encoder = load_encoder(
        settings.embedding.model,
        splitter=splitter,
        batch_size=settings.embedding.batch_size,
        cache_size=settings.embedding.cache_size,
        allow_download=settings.models.allow_download,
        threads=threads,
    )
    vectors = load_vectors(settings.perturbation.vectors)
    strengths = settings.perturbation.strengths
    perturber = NeighbourPerturber(
        language=language,
        vectors=vectors,
        encoder=encoder,
        strengths={
            Strength.LOW: strengths.low,
            Strength.MODERATE: strengths.moderate,
            Strength.HIGH: strengths.high,
        },
        k=settings.perturbation.k,
        tau=settings.perturbation.tau,
        gamma=settings.perturbation.gamma,
    )
    summarizer = summarizer_of(settings, language)
    observed = summarizer.replays and settings.storage.mode != "redacted"
    made_of = {
        "encoder": encoder.name,
        "language_model": settings.perturbation.language_model,
        "vectors": settings.perturbation.vectors,
        "k": settings.perturbation.k,
        "tau": settings.perturbation.tau,
        "gamma": settings.perturbation.gamma,
        "strengths": strengths.model_dump(),
        "K": strengths.count,
        "summarizer": summarizer.name,
        "baseline": "observed" if observed else "own",
    }
    mark = fingerprint(made_of)

    def active() -> Calibration | None:
        own = calibrations.active(mark) if calibrations is not None else None
        shipped = provisional() if own is None else None
        if shipped is not None and shipped.fingerprint == mark:
            return shipped
        return own

    nearest = NearestCategory(
        settings.categories.descriptions, encoder, default=settings.categories.default
    )
    pipeline = Pipeline(
        Stages(
            perturber=perturber,
            summarizer=summarizer,
            encoder=encoder,
            distance=transport,
            severity=_severity,
            support=OverlapSupport(language),
            category=lambda record: record.category or nearest(record.document),
            calibration=active,
        ),
        fingerprint=mark,
        observed_baseline=observed,
        null_runs=settings.scoring.null_runs,
        max_words=settings.scoring.max_words,
        seed=settings.perturbation.seed,
        clock=now,
    )
    return Workbench(
        pipeline=pipeline,
        summarizer=summarizer,
        perturber=perturber,
        encoder=encoder,
        fingerprint=mark,
        made_of=made_of,
    )


def _severity(
    runs: Sequence[tuple[Strength, float]], calibration: Calibration | None, category: str
) -> Severity:
    normalizer = None if calibration is None else normalizer_for(calibration, category)
    return severity(runs, normalizer)


class Scorer:
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
        batch: int,
        lease_seconds: float,
        max_attempts: int,
        fingerprint: str,
    ) -> None:
        self._queue = queue
        self._score = score
        self._worker = worker
        self._batch = batch
        self._lease_seconds = lease_seconds
        self._max_attempts = max_attempts
        self._fingerprint = fingerprint
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End after the record at hand; leased ones that were not begun are put back."""
        self._stopping.set()

    def drain(self) -> int:
        """Score until the queue has nothing to lease; returns how many were finished."""
        finished = 0
        while not self._stopping.is_set():
            leased = self._queue.lease(self._worker, count=self._batch, seconds=self._lease_seconds)
            if not leased:
                break
            for item in leased:
                if self._stopping.is_set():
                    self._queue.put_back(item.lease, delay=0.0, counts=False)
                else:
                    finished += self._one(item)
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
            # Frames only: the message of a foreign exception may quote the document.
            frames = traceback.format_tb(error.__traceback__)
            log.error("scoring_failed", error=type(error).__name__, frames=frames)
            return ScoredRecord(
                record_id=item.record.id,
                state=RecordState.FAILED,
                reason=Reason.INTERNAL_ERROR,
                detail=f"{type(error).__name__}; the scorer's log has its frames",
                category=item.record.category or "",
                scored_at=now(),
                fingerprint=self._fingerprint,
            )

    def _store(self, lease: Lease, result: ScoredRecord, *, attempt: int) -> bool:
        if result.reason in {Reason.SUMMARIZER_THROTTLED, Reason.OVER_BUDGET}:
            log.warning("record_postponed", reason=result.reason, detail=result.detail)
            self._queue.put_back(lease, delay=THROTTLE_PAUSE, counts=False)
            return False
        if result.reason in FAILURES and attempt < self._max_attempts:
            log.warning("record_retried", reason=result.reason, detail=result.detail)
            self._queue.put_back(lease, delay=RETRY_PAUSE * 2 ** (attempt - 1))
            return False
        self._queue.finish(lease, result)
        log.info("record_finished", state=result.state, reason=result.reason)
        return True


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
                log.warning("lease_not_renewed", error=type(error).__name__)


def worker_name() -> str:
    """Host and process, for leases and logs."""
    return f"{socket.gethostname()}:{os.getpid()}"


def stop_at_end_of_input(stop: Callable[[], None]) -> None:
    """Call `stop` when standard input ends, which is when the front that started us is gone."""

    def watch() -> None:
        while sys.stdin.buffer.read(1):
            pass
        stop()

    threading.Thread(target=watch, name="front", daemon=True).start()
