"""One record: everything that is known about it, put together from what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.attribution.unstable_words import word_instability
from monitor.findings import BreachRow
from monitor.investigate.missing import missing_parts
from monitor.investigate.pictures.ribbons import Move
from monitor.investigate.record_parts import (
    Check,
    MethodFacts,
    NullFacts,
    RecordFacts,
    Request,
    Scored,
    Swap,
    Version,
    Word,
)
from monitor.investigate.sources import Sources
from monitor.records import CapturedRequest, FloatArray, UnsupportedFact
from monitor.storage.detail import RecordDetail, record_detail
from monitor.storage.detail_parts import (
    StoredAttribution,
    StoredExplanation,
    StoredPerturbation,
)
from monitor.storage.replayed import captured_request

_LEAST_MASS: Final = 1e-6
"""Rounding leaves dust in a transport plan."""
_UNSTABLE: Final = 0.35
"""A word is marked as unstable from this share of the greatest instability of a word on."""


def record_facts(sources: Sources, record_id: str, *, texts: bool) -> RecordFacts | None:
    """The facts, or None for an unknown id; without `texts` no word of a text is in them."""
    detail = record_detail(sources.database, record_id)
    if detail is None:
        return None
    request = captured_request(sources.database, record_id)
    breaches = sources.breaches.breaches_of(record_id)
    return facts_of(detail, request=request, breaches=breaches, texts=texts)


def facts_of(
    detail: RecordDetail,
    *,
    request: CapturedRequest | None = None,
    breaches: Sequence[BreachRow] = (),
    texts: bool = True,
) -> RecordFacts:
    """Put together what is stored about a record."""
    return RecordFacts(
        record=detail.row,
        content_mode=detail.content_mode,
        document=detail.document if texts else None,
        summary=detail.summary if texts else None,
        document_hash=detail.document_hash,
        summary_hash=detail.summary_hash,
        front=detail.front,
        epoch=detail.epoch,
        upstream_probability=detail.upstream_probability,
        started_at=detail.started_at,
        erased_at=detail.erased_at,
        score=_score(detail, texts),
        versions=tuple(_version(run, detail, texts) for run in detail.perturbations),
        null_runs=tuple(
            NullFacts(
                number=run.number,
                source=run.source,
                distance=run.distance,
                reason=run.reason,
                summary=run.summary if texts else None,
                seconds=run.seconds,
            )
            for run in detail.null_runs
        ),
        methods=tuple(_method(each, detail, texts) for each in detail.attributions),
        request=_request(request) if texts and request is not None else None,
        breaches=tuple(breaches),
        missing=tuple(missing_parts(detail, request, texts=texts)),
    )


def _score(detail: RecordDetail, texts: bool) -> Scored | None:
    score = detail.score
    if score is None:
        return None
    plans = [run.plan for run in detail.perturbations if run.plan is not None]
    rows = len(plans[0]) if plans else 0
    return Scored(
        **{
            name: getattr(score, name)
            for name in Scored.__slots__
            if name
            not in {
                "unsupported",
                "baseline_summary",
                "baseline_sentences",
                "checks",
                "stage_seconds",
            }
        },
        unsupported=tuple(
            UnsupportedFact(kind=each.kind, text=each.text if texts else "", start=each.start)
            for each in score.unsupported
        ),
        baseline_summary=score.baseline_summary if texts else None,
        baseline_sentences=_sentences(score.baseline_sentences, rows, texts),
        checks=tuple(
            Check(name=name, value=each.value, reason=each.reason, detail=each.detail)
            for name, each in score.checks.items()
        ),
        stage_seconds=dict(score.stage_seconds),
    )


def _version(run: StoredPerturbation, detail: RecordDetail, texts: bool) -> Version:
    normalizer = detail.score.normalizer if detail.score is not None else None
    normalized = None
    if run.distance is not None and normalizer is not None:
        normalized = min(run.distance / normalizer, 1.0)
    return Version(
        number=run.number,
        strength=run.strength,
        share=run.share,
        reached=run.reached,
        min_cosine=run.min_cosine,
        distance=run.distance,
        normalized=normalized,
        reason=run.reason,
        detail=run.detail,
        document=run.document if texts else None,
        summary=run.summary if texts else None,
        swaps=_swaps(run, texts),
        sentences=_sentences(run.sentences, 0 if run.plan is None else run.plan.shape[1], texts),
        moves=() if run.plan is None or run.cost is None else _moves(run.plan, run.cost),
        seconds=run.seconds,
        attempts=run.attempts,
        truncated=run.truncated,
    )


def _swaps(run: StoredPerturbation, texts: bool) -> tuple[Swap, ...]:
    """Replacements in reading order, with their places in the reworded document.

    That has the replacements' lengths in place of the originals'; where it does not bear this
    out (it was cut or changed), the place is left out.
    """
    shift, swaps = 0, []
    for each in sorted(run.substitutions, key=lambda each: each.start):
        place = None
        if texts and run.document is not None and each.replacement and each.original:
            at = each.start + shift
            if run.document[at : at + len(each.replacement)] == each.replacement:
                place = at
            shift += len(each.replacement) - len(each.original)
        swaps.append(
            Swap(
                start=each.start,
                start_in_version=place,
                original=each.original if texts else None,
                replacement=each.replacement if texts else None,
                similarity=each.similarity,
            )
        )
    return tuple(swaps)


def _moves(plan: FloatArray, cost: FloatArray) -> tuple[Move, ...]:
    found = [
        Move(source=int(i), target=int(j), mass=float(plan[i, j]), cost=float(cost[i, j]))
        for i, j in np.argwhere(plan > _LEAST_MASS)
    ]
    return tuple(sorted(found, key=lambda move: (-move.mass * move.cost, move.source)))


def _sentences(stored: tuple[str, ...] | None, count: int, texts: bool) -> tuple[str | None, ...]:
    if stored is None or not texts:
        return (None,) * (count if stored is None else len(stored))
    return stored


def _method(found: StoredAttribution, detail: RecordDetail, texts: bool) -> MethodFacts:
    original = found.explanations[0] if found.explanations else None
    known = original is not None and original.values is not None
    return MethodFacts(
        method=found.method,
        instability=found.instability,
        absolute=found.absolute,
        one_minus_spearman=found.one_minus_spearman,
        one_minus_cosine=found.one_minus_cosine,
        noise_floor=found.noise_floor,
        compared=found.compared,
        evaluations=found.evaluations,
        granularity=original.granularity if original is not None and known else None,
        distinct_values=original.distinct_values if original is not None and known else None,
        reason=found.reason,
        words=_words(found.explanations, detail, texts),
    )


def _words(
    explanations: tuple[StoredExplanation, ...], detail: RecordDetail, texts: bool
) -> tuple[Word, ...]:
    if not explanations or explanations[0].values is None or detail.score is None:
        return ()
    values, spans = explanations[0].values, detail.score.attribution_spans
    versions = [each.values for each in explanations[1:] if each.values is not None]
    trembling = word_instability(values, versions) if versions else None
    most = float(trembling.max()) if trembling is not None else 0.0
    shown = detail.document if texts else None
    return tuple(
        Word(
            start=start,
            end=end,
            text=None if shown is None else shown[start:end],
            value=value,
            instability=None if trembling is None else float(trembling[index]),
            unstable=trembling is not None and 0 < _UNSTABLE * most <= float(trembling[index]),
        )
        for index, ((start, end), value) in enumerate(zip(spans, values, strict=True))
    )


def _request(request: CapturedRequest) -> Request:
    return Request(
        model=request.model,
        parameters=dict(request.parameters),
        messages=tuple((message.role, message.content) for message in request.messages),
    )
