"""A scored record, taken apart into rows.

Where texts are not kept, what remains of a re-summary are its hashes, its distance and
its transport; of a substitution its position and similarity; of an unsupported fact its
kind and position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from monitor.records import (
    Attribution,
    AttributionMethod,
    Explanation,
    FactualScore,
    MethodResult,
    NullRun,
    PerturbationScore,
    Reason,
    ScoredRecord,
    Summary,
)
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
    attributions: tuple[Row, ...]

    @property
    def size(self) -> int:
        """Bytes, nearly."""
        rows = (self.score, *self.perturbations, *self.null_runs, *self.attributions)
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
        attributions=tuple(_attribution_rows(result)),
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
        **_check_columns(result.checks),
        **_attribution_columns(result.explanation),
        "document_words": result.document_words,
        "summary_words": result.summary_words,
        "stage_seconds": {name: float(value) for name, value in result.stage_seconds.items()},
        "core_seconds": result.core_seconds,
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "truncated": result.truncated,
    }


def _check_columns(checks: Mapping[str, FactualScore]) -> dict[str, Any]:
    values = {name: score.value for name, score in checks.items()}
    return {
        "checks": {
            name: [score.value, score.reason, score.detail] for name, score in checks.items()
        }
        or None,
        **{name: values.get(name) for name in ("content_word_precision", "summac", "factcc")},
    }


def _attribution_columns(explanation: Explanation | None) -> dict[str, Any]:
    found = {} if explanation is None else {each.method: each for each in explanation.methods}
    columns: dict[str, Any] = {
        "attribution_probability": None if explanation is None else explanation.probability,
        "attribution_value": None if explanation is None else explanation.value,
        "attribution_spans": [list(span) for span in explanation.spans] or None
        if explanation is not None
        else None,
    }
    for method in AttributionMethod:
        result = found.get(method)
        columns[f"{method}_instability"] = result and result.instability
        columns[f"{method}_noise_floor"] = result and result.noise_floor
        columns[f"{method}_reason"] = result and result.reason
    return columns


def _attribution_rows(result: ScoredRecord) -> Iterator[dict[str, Any]]:
    """One row a method; none where the policy did not select the record."""
    explanation = result.explanation
    if explanation is None or explanation.probability is None:
        return
    # Perturbations are numbered from 1 in the database.
    numbers = [0, *(position + 1 for position in explanation.versions)]
    for method in explanation.methods:
        yield {"record_id": result.record_id, **_attribution_row(method, numbers)}


def _attribution_row(method: MethodResult, numbers: Sequence[int]) -> dict[str, Any]:
    # A method that could not explain the document has not tried its versions.
    made = list(zip(numbers, (method.original, *method.perturbed), strict=False))
    values = [each.values for _, each in made if each.values is not None]
    return {
        "method": AttributionMethod(method.method),
        "instability": method.instability,
        "absolute": method.absolute,
        "one_minus_spearman": method.one_minus_spearman,
        "one_minus_cosine": method.one_minus_cosine,
        "noise_floor": method.noise_floor,
        "compared": method.compared,
        "evaluations": method.evaluations,
        "reason": method.reason,
        "explanations": [[number, *_explanation(each)] for number, each in made],
        "weights": np.stack(values) if values else None,
    }


def _explanation(made: Attribution) -> list[Any]:
    fit = None if made.fit is None else float(made.fit)
    return [made.granularity, made.distinct_values, made.evaluations, fit, made.reason]


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
