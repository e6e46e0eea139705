"""One turn, as one page: take the lease, judge drift, judge thresholds, note that it is done."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from monitor.errors import LeaseLost
from monitor.evaluation.drifting import DriftJudge
from monitor.evaluation.ports import BreachStore, DriftStore, Lease, Samples
from monitor.evaluation.references import References
from monitor.evaluation.thresholds import ThresholdJudge
from monitor.evaluation.watched import watched_series
from monitor.findings import EvaluatorLease
from monitor.ports import Clock
from monitor.settings import Settings

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Judges:
    """The stages of a turn, wired by the composition root."""

    references: References
    drift: DriftJudge
    thresholds: ThresholdJudge


class Evaluator:
    """Judges when it is this holder's turn; to be called every `evaluation.seconds`.

    Everything that a turn finds out is saved in two transactions, each of which the lease
    guards: a process that was stopped in its turn and wakes up late can write nothing, and
    its successor starts from what was stored.
    """

    def __init__(
        self,
        judges: Judges,
        *,
        samples: Samples,
        drift: DriftStore,
        breaches: BreachStore,
        lease: Lease,
        holder: str,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._judges = judges
        self._samples = samples
        self._drift = drift
        self._breaches = breaches
        self._lease = lease
        self._holder = holder
        self._settings = settings
        self._clock = clock
        self._held: EvaluatorLease | None = None

    def turn(self) -> bool:
        """Judge everything once; False where another process holds the lease."""
        lease = self._renewed()
        if lease is None:
            return False
        now = self._clock()
        try:
            self._judges.references.refresh()
            watched = watched_series(
                self._samples, self._breaches, settings=self._settings, now=now
            )
            drifting = self._judges.drift.judge(watched.recent, now=now)
            lease = self._still(lease)
            self._drift.save(
                lease, states=drifting.states, findings=drifting.findings, changes=drifting.changes
            )
            judged = self._judges.thresholds.judge(watched.judged, now=now)
            lease = self._still(lease)
            self._breaches.save(lease, states=judged.states, breaches=judged.breaches)
            self._lease.complete(lease)
        except LeaseLost as lost:
            log.warning("evaluation_dropped", reason=str(lost))
            self._held = None
            return False
        seconds = (self._clock() - now).total_seconds()
        log.debug("evaluated", series=len(watched.judged), seconds=round(seconds, 3))
        return True

    def release(self) -> None:
        """Let another process take over at once."""
        if self._held is not None:
            self._lease.release(self._held)
            self._held = None

    def _renewed(self) -> EvaluatorLease | None:
        seconds = self._settings.evaluation.lease_seconds
        self._held = self._lease.acquire(self._holder, seconds=seconds)
        return self._held

    def _still(self, lease: EvaluatorLease) -> EvaluatorLease:
        """The lease renewed after a long stretch of work; raises `LeaseLost`."""
        renewed = self._renewed()
        if renewed is None or renewed.token != lease.token:
            raise LeaseLost(
                f"evaluator lease: {lease.holder!r} lost it during a turn; set "
                "evaluation.lease_seconds higher"
            )
        return renewed
