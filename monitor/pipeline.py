"""The product on one page: from a record of live traffic to its severity.

    perturb → summarize → embed → distance → normalize → HSS → attribute → check facts

with the support of names and numbers beside it. What the summarizer is asked stands in
`resummaries`, how far its answers moved in `distances`.

Every stage is handed in; nothing here loads a model, reads a clock of its own or writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from monitor.distances import Distance, embed, with_distances
from monitor.ports import Clock, Encoder, Perturber, Summarizer, SupportCheck
from monitor.records import (
    Calibration,
    Explanation,
    FactualScore,
    IncomingRecord,
    Perturbation,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
)
from monitor.resummaries import Resummarizer, with_resummaries
from monitor.stopwatch import Stopwatch
from monitor.unscorable import FAILURES, Unscorable, is_blank

SeverityOf = Callable[[Sequence[tuple[Strength, float]], Calibration | None, str], Severity]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stages:
    """What the pipeline is made of."""

    perturber: Perturber
    summarizer: Summarizer
    encoder: Encoder
    distance: Distance
    severity: SeverityOf
    support: SupportCheck
    category: Callable[[IncomingRecord], str]
    calibration: Callable[[], Calibration | None]
    """The active calibration of this pipeline's fingerprint, looked up anew for each record."""
    attribute: Callable[[IncomingRecord, ScoredRecord], Explanation | None]
    """Attributions of a record that has its HSS, or why it gets none; never raises."""
    check: Callable[[str, str], Mapping[str, FactualScore]]
    """The factual comparators of (document, summary)."""


class Pipeline:
    """Scores one record at a time; deterministic where its stages are.

    `observed_baseline` and `null_runs` go to the `Resummarizer`, whose words say what they mean
    and when a record ends for want of re-summaries.
    """

    def __init__(
        self,
        stages: Stages,
        *,
        fingerprint: str,
        observed_baseline: bool,
        null_runs: int,
        max_words: int,
        seed: int,
        clock: Clock,
    ) -> None:
        self._stages = stages
        self._resummarizer = Resummarizer(
            stages.summarizer, observed_baseline=observed_baseline, null_runs=null_runs
        )
        self._fingerprint = fingerprint
        self._max_words = max_words
        self._seed = seed
        self._clock = clock

    def score(self, record: IncomingRecord) -> ScoredRecord:
        """Run all stages; never raises for what the record holds, only for defects."""
        stages, spent = self._stages, Stopwatch()
        result = self._begun(record)
        try:
            self._refuse_unusable(result, record)
            with spent("category"):
                result = replace(result, category=stages.category(record))
            with spent("support"):
                support = stages.support.check([(record.document, record.summary)])[0]
                result = replace(result, support=support)
            with spent("perturb"):
                versions = self._perturb(record)
            with spent("summarize"):
                summaries = self._resummarizer.resummarize(record, versions)
                result = with_resummaries(result, summaries)
            with spent("embed"):
                embedded = embed(summaries, record.summary, stages.encoder)
            with spent("distance"):
                result = with_distances(result, versions, summaries, embedded, stages.distance)
            with spent("normalize"):
                result = self._with_severity(result)
            with spent("attribute"):
                result = replace(result, explanation=stages.attribute(record, result))
            with spent("check"):
                result = replace(result, checks=stages.check(record.document, record.summary))
        except Unscorable as stop:
            result = _ended(result, stop.reason, stop.detail)
        return replace(
            result,
            scored_at=self._clock(),
            stage_seconds=spent.seconds,
            core_seconds=spent.core_seconds(),
        )

    def not_scored(self, record: IncomingRecord, reason: Reason, detail: str) -> ScoredRecord:
        """The result for a record that cannot even begin, in the same form as all others."""
        return _ended(self._begun(record), reason, detail)

    def _begun(self, record: IncomingRecord) -> ScoredRecord:
        return ScoredRecord(
            record_id=record.id,
            state=RecordState.SCORED,
            reason=None,
            detail="",
            category=record.category or "",
            scored_at=self._clock(),
            fingerprint=self._fingerprint,
            document_words=len(record.document.split()),
            summary_words=len(record.summary.split()),
        )

    def _refuse_unusable(self, result: ScoredRecord, record: IncomingRecord) -> None:
        if is_blank(record.document):
            raise Unscorable(Reason.EMPTY_DOCUMENT)
        if is_blank(record.summary):
            raise Unscorable(Reason.EMPTY_SUMMARY)
        words = result.document_words or 0
        if words > self._max_words:
            raise Unscorable(
                Reason.TOO_LONG,
                f"{words} words; raise scoring.max_words ({self._max_words}) to score them",
            )

    def _perturb(self, record: IncomingRecord) -> tuple[Perturbation, ...]:
        made = self._stages.perturber.perturb(record.document, seed=self._seed)
        if not made.perturbations:
            raise Unscorable(
                made.reason or Reason.NO_ACCEPTED_PERTURBATION,
                f"{made.eligible} of {made.words} words may be replaced",
            )
        return made.perturbations

    def _with_severity(self, result: ScoredRecord) -> ScoredRecord:
        calibration = self._stages.calibration()
        distances = [
            (score.perturbation.strength, score.distance)
            for score in result.perturbations
            if score.distance is not None
        ]
        severity = self._stages.severity(distances, calibration, result.category)
        return replace(
            result,
            severity=severity,
            reason=severity.reason,
            calibration_id=calibration.id if calibration and severity.hss is not None else None,
        )


def _ended(result: ScoredRecord, reason: Reason, detail: str) -> ScoredRecord:
    state = RecordState.FAILED if reason in FAILURES else RecordState.SKIPPED
    return replace(result, state=state, reason=reason, detail=detail)
