"""The small interfaces between stages, with their guarantees.

Nothing in here is constructed outside the two composition roots (`app`, `scorer`).
Unless said otherwise implementations are used from one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from monitor.records import (
    Calibration,
    FloatArray,
    IncomingRecord,
    Lease,
    LeasedRecord,
    PerturbationSet,
    Reason,
    SampledRecord,
    SamplingDecision,
    SamplingEpoch,
    ScoredRecord,
    Stratum,
    Summary,
    SummaryDistribution,
    SummaryTask,
    Support,
)


class Arrival(Enum):
    """What came of a record that was handed to an intake."""

    QUEUED = "queued"
    KNOWN = "known"
    """Sampled before, and not queued again."""
    LEFT_OUT = "left_out"
    """By the sampling; nothing of it is kept, so the same one may come again."""


class Intake(Protocol):
    """Where ingest hands over what it read. Called from the event loop."""

    async def take(self, records: Sequence[IncomingRecord]) -> list[bool]:
        """Count, sample and queue records; one answer each: is it (now or already) sampled.

        When this returns, every sampled record is durable. Idempotent on `id`: a record
        seen before is neither queued nor counted twice as sampled. All or nothing: raises
        `Overloaded` or `DatabaseUnavailable`, and then no record was taken.
        """

    def skipped(self, reason: Reason, count: int = 1) -> None:
        """Count traffic that cannot become a record (no content, a tool call, …)."""

    def replay_ignored(self, count: int = 1) -> None:
        """Count a replay of our own that came back as traffic."""


class Sampler(Protocol):
    def decide(self, record: IncomingRecord) -> SamplingDecision:
        """Sampled or not, as a pure function of (trace id or id, stratum, epoch)."""


class EpochStore(Protocol):
    """Sampling epochs and the arrivals that they are computed from, shared by replicas."""

    def latest(self) -> SamplingEpoch | None:
        """The epoch with the highest number."""

    def open(self, epoch: SamplingEpoch) -> bool:
        """Append the next epoch; False where another replica appended that number first."""

    def add_arrivals(self, epoch: int, front: str, counts: Mapping[Stratum, int]) -> None:
        """Add records received in an epoch (sampled or not)."""

    def arrivals(self, epoch: int) -> Mapping[Stratum, int]:
        """Records received in an epoch over all fronts."""


class RecordQueue(Protocol):
    """The durable queue between front and scorers; safe for many processes.

    A record is in exactly one `RecordState`. Every write of a scorer names its lease, and
    is refused with `LeaseLost` where the lease ran out and was taken up by another.
    """

    def accept(self, records: Sequence[SampledRecord]) -> list[bool]:
        """Queue records in one transaction, durable on return; False for a known id.

        A record without an own id counts as known when its (trace_id, span_id) is.
        """

    def lease(self, worker: str, *, count: int, seconds: float) -> list[LeasedRecord]:
        """Claim up to `count` records, oldest first; each goes to one worker only.

        Also claims records whose lease ran out. A record whose attempts are used up is
        not returned, but failed with `attempts_exhausted`.
        """

    def extend(self, lease: Lease, *, seconds: float) -> Lease:
        """Move the end of a lease to `seconds` from now."""

    def finish(self, lease: Lease, result: ScoredRecord) -> None:
        """Store a final result with all its parts in one transaction and end the lease."""

    def put_back(self, lease: Lease, *, delay: float, counts: bool = True) -> None:
        """Return a record unscored; it can be leased again after `delay` seconds.

        With `counts=False` the attempt does not count (the summarizer was throttled).
        """


class CalibrationStore(Protocol):
    def active(self, fingerprint: str) -> Calibration | None:
        """The active calibration of a fingerprint; an own one before a provisional one."""

    def add(self, calibration: Calibration, *, activate: bool) -> None:
        """Append a calibration; with `activate` it replaces the active one of its fingerprint."""


class Perturber(Protocol):
    def perturb(self, document: str, *, seed: int) -> PerturbationSet:
        """K reworded versions of a document, deterministic in (document, seed)."""


class Summarizer(Protocol):
    """Writes summaries, many at a time."""

    name: str
    """Goes into the fingerprint: kind, model and what changes its output."""
    deterministic: bool
    """The same document gives the same summary, always."""
    replays: bool
    """It is the model and prompt that wrote the observed summary, so y₀ = y."""

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """One answer a task, in order. Never raises for a task: a failure is a `Summary`
        without text, with its reason, after the retries and within the time limit."""


class Encoder(Protocol):
    name: str
    """Goes into the fingerprint."""

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        """(n, d) unit vectors. Nothing is cut silently: a sentence longer than the model's
        limit is embedded in windows whose mean is scaled back to unit length."""

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        """μ_y of each text (all sentences in one batch); `None` for a text without words."""


class SupportCheck(Protocol):
    def check(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        """Support of the entities and numbers of each (document, summary)."""


SET_BACK = timedelta(minutes=5)
"""What is stored as later than now by more than this, was stored before the clock was set back:
clocks that agree do not differ by so much."""


class Clock(Protocol):
    def __call__(self) -> datetime:
        """Now, as aware UTC."""
