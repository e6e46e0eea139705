"""A scored record, taken apart into rows.

Where texts are not kept, what remains of a re-summary are its hashes, its distance and
its transport; of a substitution its position and similarity; of an unsupported fact its
kind and position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from monitor.records import NullRun, PerturbationScore, Reason, ScoredRecord, Summary
from monitor.storage.content import TextHash

Row = Mapping[str, Any]

_ROW_BYTES = 400
"""Roughly what the numbers and hashes of one row take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultRows:
    """The rows of one result, ready to be inserted."""

    score: Row
    perturbations: tuple[Row, ...]
    null_runs: tuple[Row, ...]

    @property
    def size(self) -> int:
        """Bytes, nearly."""
        rows = (self.score, *self.perturbations, *self.null_runs)
        return sum(_ROW_BYTES + sum(map(_weight, row.values())) for row in rows)


def result_rows(result: ScoredRecord, *, text_hash: TextHash, keep_texts: bool) -> ResultRows:
    """Every row of a result except its line in `records`."""
    return ResultRows(
        score=_score_row(result, text_hash, keep_texts),
        perturbations=tuple(
            {"record_id": result.record_id, "number": number}
            | _perturbation_row(score, text_hash, keep_texts)
            for number, score in enumerate(result.perturbations, start=1)
        ),
        null_runs=tuple(
            {"record_id": result.record_id, "number": number}
            | _null_row(run, text_hash, keep_texts)
            for number, run in enumerate(result.null_runs, start=1)
        ),
    )


def _score_row(result: ScoredRecord, text_hash: TextHash, keep_texts: bool) -> dict[str, Any]:
    severity, support = result.severity, result.support
    normalizer = None if severity is None else severity.normalizer
    baseline = result.baseline_summary
    measured = [score for score in result.perturbations if score.transport is not None]
    # All transports of a record start from the same baseline.
    source = measured[0].transport.source if measured and measured[0].transport else None
    return {
        "record_id": result.record_id,
        "scored_at": result.scored_at,
        "fingerprint": result.fingerprint,
        "calibration_id": result.calibration_id,
        "normalizer": None if normalizer is None else normalizer.value,
        "normalizer_category": None if normalizer is None else normalizer.category,
        "hss": None if severity is None else severity.hss,
        "hss_low": None if severity is None else severity.low,
        "hss_high": None if severity is None else severity.high,
        "hss_reason": result.reason if severity is None else severity.reason,
        "interval_reason": None if severity is None else severity.interval_reason,
        "raw_distance": result.raw_distance,
        "null_distance": result.null_distance,
        "excess": result.excess,
        "mean_share": fmean(m.perturbation.share for m in measured) if measured else None,
        "distances": len(measured),
        "baseline": result.baseline,
        "baseline_summary": baseline if keep_texts else None,
        "baseline_hash": None if baseline is None else text_hash(baseline),
        "baseline_sentences": list(source) if source is not None and keep_texts else None,
        "observed_distance": result.observed_distance,
        "entity_support": None if support is None else support.entity_support,
        "entity_reason": None if support is None else support.entity_reason,
        "number_support": None if support is None else support.number_support,
        "number_reason": None if support is None else support.number_reason,
        "entities": None if support is None else support.entities,
        "numbers": None if support is None else support.numbers,
        "unsupported": None
        if support is None
        else [
            [fact.kind, fact.text if keep_texts else None, fact.start]
            for fact in support.unsupported
        ],
        "document_words": result.document_words,
        "summary_words": result.summary_words,
        "stage_seconds": {name: float(value) for name, value in result.stage_seconds.items()},
        "core_seconds": result.core_seconds,
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "truncated": result.truncated,
    }


def _perturbation_row(
    score: PerturbationScore, text_hash: TextHash, keep_texts: bool
) -> dict[str, Any]:
    perturbation, transport = score.perturbation, score.transport
    return {
        **_run_row(score.summary, score.distance, score.reason, text_hash, keep_texts),
        "strength": perturbation.strength,
        "share": perturbation.share,
        "reached": perturbation.reached,
        "substitutions": [
            [
                word.index,
                word.original if keep_texts else None,
                word.replacement if keep_texts else None,
                float(word.similarity),
                word.start,
            ]
            for word in perturbation.substitutions
        ],
        "min_cosine": perturbation.min_cosine,
        "document": perturbation.document if keep_texts else None,
        "document_hash": text_hash(perturbation.document),
        "plan": None if transport is None else transport.plan,
        "cost": None if transport is None else transport.cost,
        "sentences": None if transport is None or not keep_texts else list(transport.target),
    }


def _null_row(run: NullRun, text_hash: TextHash, keep_texts: bool) -> dict[str, Any]:
    return {
        **_run_row(run.summary, run.distance, run.summary.reason, text_hash, keep_texts),
        "source": run.source,
    }


def _run_row(
    summary: Summary,
    distance: float | None,
    reason: Reason | None,
    text_hash: TextHash,
    keep_texts: bool,
) -> dict[str, Any]:
    return {
        "distance": distance,
        "reason": reason if reason is not None else summary.reason,
        "detail": summary.detail,
        "summary": summary.text if keep_texts else None,
        "summary_hash": None if summary.text is None else text_hash(summary.text),
        "seconds": summary.seconds,
        "prompt_tokens": summary.prompt_tokens,
        "completion_tokens": summary.completion_tokens,
        "attempts": summary.attempts,
        "truncated": summary.truncated,
    }


def _weight(value: Any) -> int:
    """Bytes of a value, nearly: code points count as one each, numbers as nothing."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list | tuple):
        return sum(8 + _weight(item) for item in value)
    return 4 * int(getattr(value, "size", 0))
