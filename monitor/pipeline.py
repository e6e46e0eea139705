"""The product on one page: from a record of live traffic to its severity.

    perturb → summarize → embed → distance → normalize → HSS → attribute → check facts

with the support of names and numbers beside it.

Every stage is handed in; nothing here loads a model, reads a clock of its own or writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from monitor.ports import Clock, Encoder, Perturber, Summarizer, SupportCheck
from monitor.records import (
    Calibration,
    Explanation,
    FactualScore,
    IncomingRecord,
    NullRun,
    Perturbation,
    PerturbationScore,
    PerturbationSet,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
    Summary,
    SummaryDistribution,
    SummaryTask,
    Transport,
)
from monitor.stopwatch import Stopwatch

FAILURES = frozenset(
    {
        Reason.SUMMARIZER_TIMEOUT,
        Reason.SUMMARIZER_ERROR,
        Reason.SUMMARIZER_THROTTLED,
        Reason.OVER_BUDGET,
        Reason.INTERNAL_ERROR,
    }
)
"""Reasons that lie with us or the summarizer: the record is `failed`, not `skipped`, and may
be tried again. All others lie in the record itself."""

Distance = Callable[[SummaryDistribution, SummaryDistribution], Transport]
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """All summaries of one record."""

    baseline: str
    observed: bool
    """y₀ is the summary that live traffic saw."""
    perturbed: tuple[Summary, ...]
    nulls: tuple[tuple[Summary, str], ...]
    """Summaries of the unchanged document, each with its source (`run` or `choice`)."""


class _Stop(Exception):
    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


class Pipeline:
    """Scores one record at a time; deterministic where its stages are.

    `observed_baseline` says whether the observed summary y may serve as y₀: only where the
    re-summarizer is the model and prompt that wrote y *and* sees the same document (not a
    redacted one). At least half of the K re-summaries must succeed, else the record takes the
    reason that most of the others failed with.
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
        self._fingerprint = fingerprint
        self._observed_baseline = observed_baseline
        self._null_runs = min(null_runs, 1) if stages.summarizer.deterministic else null_runs
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
                result = replace(
                    result, support=stages.support.check([(record.document, record.summary)])[0]
                )
            with spent("perturb"):
                versions = self._perturb(record)
            with spent("summarize"):
                answers = self._summarize(record, versions)
                result = _with_usage(result, answers)
            with spent("embed"):
                baseline, moved, nulls, observed = self._embed(record, answers)
            with spent("distance"):
                scores = self._distances(versions, answers, baseline, moved)
                null_runs = self._null_distances(answers, baseline, nulls)
                result = self._with_distances(result, scores, null_runs)
                if observed is not None:
                    away = stages.distance(baseline, observed).distance
                    result = replace(result, observed_distance=away)
            with spent("normalize"):
                result = self._with_severity(result)
            with spent("attribute"):
                result = replace(result, explanation=stages.attribute(record, result))
            with spent("check"):
                result = replace(result, checks=stages.check(record.document, record.summary))
        except _Stop as stop:
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
        if not record.document.strip():
            raise _Stop(Reason.EMPTY_DOCUMENT)
        if not record.summary.strip():
            raise _Stop(Reason.EMPTY_SUMMARY)
        words = result.document_words or 0
        if words > self._max_words:
            raise _Stop(
                Reason.TOO_LONG,
                f"{words} words; raise scoring.max_words ({self._max_words}) to score them",
            )

    def _perturb(self, record: IncomingRecord) -> tuple[Perturbation, ...]:
        made: PerturbationSet = self._stages.perturber.perturb(record.document, seed=self._seed)
        if not made.perturbations:
            raise _Stop(
                made.reason or Reason.NO_ACCEPTED_PERTURBATION,
                f"{made.eligible} of {made.words} words may be replaced",
            )
        return made.perturbations

    def _summarize(self, record: IncomingRecord, versions: tuple[Perturbation, ...]) -> Answers:
        """One batch: the baseline (unless observed), the null runs, the K versions."""
        choices = [c for c in record.alternatives if c.strip()] if self._observed_baseline else []
        choices = choices[: self._null_runs]
        own = 0 if self._observed_baseline else 1
        unchanged = own + self._null_runs - len(choices)
        documents = [record.document] * unchanged + [version.document for version in versions]
        summaries = self._stages.summarizer.summarize(
            [
                SummaryTask(
                    document=document, original_document=record.document, request=record.request
                )
                for document in documents
            ]
        )
        perturbed = tuple(summaries[unchanged:])
        baseline = record.summary if self._observed_baseline else _text(summaries[0])
        self._require_half(perturbed)
        nulls = [(summary, "run") for summary in summaries[own:unchanged]]
        nulls += [(Summary(text=choice), "choice") for choice in choices]
        return Answers(
            baseline=baseline,
            observed=self._observed_baseline,
            perturbed=perturbed,
            nulls=tuple(nulls),
        )

    @staticmethod
    def _require_half(summaries: Sequence[Summary]) -> None:
        missing = [summary for summary in summaries if summary.text is None]
        if 2 * len(missing) > len(summaries):
            reasons = Counter(summary.reason or Reason.SUMMARIZER_ERROR for summary in missing)
            reason = reasons.most_common(1)[0][0]
            details = [summary.detail for summary in missing if summary.reason == reason]
            raise _Stop(
                reason, f"{len(missing)} of {len(summaries)} re-summaries are missing: {details[0]}"
            )

    def _embed(
        self, record: IncomingRecord, answers: Answers
    ) -> tuple[
        SummaryDistribution,
        list[SummaryDistribution | None],
        list[SummaryDistribution | None],
        SummaryDistribution | None,
    ]:
        """All sentences of all summaries in one batch, taken apart again."""
        texts = [answers.baseline, record.summary]
        texts += [summary.text or "" for summary in answers.perturbed]
        texts += [summary.text or "" for summary, _ in answers.nulls]
        baseline, observed, *rest = self._stages.encoder.distributions(texts)
        if baseline is None:
            raise _Stop(Reason.EMPTY_SUMMARY, "the baseline summary holds no word")
        count = len(answers.perturbed)
        return baseline, rest[:count], rest[count:], None if answers.observed else observed

    def _distances(
        self,
        versions: tuple[Perturbation, ...],
        answers: Answers,
        baseline: SummaryDistribution,
        moved: list[SummaryDistribution | None],
    ) -> tuple[PerturbationScore, ...]:
        scores = []
        for version, summary, distribution in zip(versions, answers.perturbed, moved, strict=True):
            transport = (
                None if distribution is None else self._stages.distance(baseline, distribution)
            )
            reason = None if transport else summary.reason or Reason.EMPTY_SUMMARY
            scores.append(
                PerturbationScore(
                    perturbation=version, summary=summary, transport=transport, reason=reason
                )
            )
        return tuple(scores)

    def _null_distances(
        self,
        answers: Answers,
        baseline: SummaryDistribution,
        nulls: list[SummaryDistribution | None],
    ) -> tuple[NullRun, ...]:
        return tuple(
            NullRun(
                summary=summary,
                source=source,
                distance=None
                if distribution is None
                else self._stages.distance(baseline, distribution).distance,
            )
            for (summary, source), distribution in zip(answers.nulls, nulls, strict=True)
        )

    @staticmethod
    def _with_distances(
        result: ScoredRecord, scores: tuple[PerturbationScore, ...], nulls: tuple[NullRun, ...]
    ) -> ScoredRecord:
        distances = [score.distance for score in scores if score.distance is not None]
        if not distances:
            raise _Stop(Reason.EMPTY_SUMMARY, "no re-summary holds a word")
        noise = [null.distance for null in nulls if null.distance is not None]
        raw = fmean(distances)
        null = fmean(noise) if noise else None
        return replace(
            result,
            perturbations=scores,
            null_runs=nulls,
            raw_distance=raw,
            null_distance=null,
            excess=None if null is None else raw - null,
        )

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


def _text(summary: Summary) -> str:
    if summary.text is None:
        raise _Stop(
            summary.reason or Reason.SUMMARIZER_ERROR, f"no baseline summary: {summary.detail}"
        )
    return summary.text


def _with_usage(result: ScoredRecord, answers: Answers) -> ScoredRecord:
    runs = [*answers.perturbed, *(summary for summary, _ in answers.nulls)]
    prompt = [run.prompt_tokens for run in runs if run.prompt_tokens is not None]
    completion = [run.completion_tokens for run in runs if run.completion_tokens is not None]
    return replace(
        result,
        baseline="observed" if answers.observed else "own",
        baseline_summary=answers.baseline,
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(completion) if completion else None,
        truncated=any(run.truncated for run in runs),
    )
