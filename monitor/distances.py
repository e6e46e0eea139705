"""How far the re-summaries of one record lie from its baseline, beside serving noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from monitor.ports import Encoder
from monitor.records import (
    NullRun,
    Perturbation,
    PerturbationScore,
    Reason,
    ScoredRecord,
    SummaryDistribution,
    Transport,
)
from monitor.resummaries import Resummaries
from monitor.unscorable import Unscorable

Distance = Callable[[SummaryDistribution, SummaryDistribution], Transport]


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedSummaries:
    """The summaries of one record as distributions; `None` for one that holds no word."""

    baseline: SummaryDistribution
    """μ_{y₀}."""
    perturbed: tuple[SummaryDistribution | None, ...]
    """μ_{y_k}, in the order of the versions."""
    nulls: tuple[SummaryDistribution | None, ...]
    observed: SummaryDistribution | None
    """μ_y where y is not the baseline itself."""


def embed(summaries: Resummaries, observed: str, encoder: Encoder) -> EmbeddedSummaries:
    """All sentences of all summaries in one batch, taken apart again.

    Raises `Unscorable` where the baseline holds no word.
    """
    texts = [summaries.baseline, observed]
    texts += [summary.text or "" for summary in summaries.perturbed]
    texts += [summary.text or "" for summary, _ in summaries.nulls]
    baseline, seen, *rest = encoder.distributions(texts)
    if baseline is None:
        raise Unscorable(Reason.EMPTY_SUMMARY, "the baseline summary holds no word")
    count = len(summaries.perturbed)
    return EmbeddedSummaries(
        baseline=baseline,
        perturbed=tuple(rest[:count]),
        nulls=tuple(rest[count:]),
        observed=None if summaries.observed else seen,
    )


def with_distances(
    result: ScoredRecord,
    versions: Sequence[Perturbation],
    summaries: Resummaries,
    embedded: EmbeddedSummaries,
    distance: Distance,
) -> ScoredRecord:
    """The result with D_k of every version, their mean, D_null, and W₁(y, y₀).

    Raises `Unscorable` where no version's summary holds a word.
    """
    scores = _version_scores(versions, summaries, embedded, distance)
    nulls = _null_runs(summaries, embedded, distance)
    distances = [score.distance for score in scores if score.distance is not None]
    if not distances:
        raise Unscorable(Reason.EMPTY_SUMMARY, "no re-summary holds a word")
    noise = [null.distance for null in nulls if null.distance is not None]
    raw = fmean(distances)
    null = fmean(noise) if noise else None
    observed = embedded.observed
    return replace(
        result,
        perturbations=scores,
        null_runs=nulls,
        raw_distance=raw,
        null_distance=null,
        excess=None if null is None else raw - null,
        observed_distance=None
        if observed is None
        else distance(embedded.baseline, observed).distance,
    )


def _version_scores(
    versions: Sequence[Perturbation],
    summaries: Resummaries,
    embedded: EmbeddedSummaries,
    distance: Distance,
) -> tuple[PerturbationScore, ...]:
    scores = []
    for version, summary, moved in zip(
        versions, summaries.perturbed, embedded.perturbed, strict=True
    ):
        transport = None if moved is None else distance(embedded.baseline, moved)
        reason = None if transport else summary.reason or Reason.EMPTY_SUMMARY
        scores.append(
            PerturbationScore(
                perturbation=version, summary=summary, transport=transport, reason=reason
            )
        )
    return tuple(scores)


def _null_runs(
    summaries: Resummaries, embedded: EmbeddedSummaries, distance: Distance
) -> tuple[NullRun, ...]:
    return tuple(
        NullRun(
            summary=summary,
            source=source,
            distance=None if moved is None else distance(embedded.baseline, moved).distance,
        )
        for (summary, source), moved in zip(summaries.nulls, embedded.nulls, strict=True)
    )
