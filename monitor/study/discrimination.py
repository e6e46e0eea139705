"""How well factual checks tell unfaithful summaries from faithful ones, beside trivial ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.errors import MalformedInput
from monitor.records import FactualScore, Reason
from monitor.study.baselines import length, novel_bigrams
from monitor.study.labelled import LabelledSummary
from monitor.study.statistics import RESAMPLES, Interval, auroc, auroc_interval, auroc_within

NOVEL_BIGRAMS = "novel_bigrams"
LENGTH = "summary_length"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """What one check, or one baseline, does over one collection of judged summaries.

    Every AUROC is the probability that an unfaithful summary looks worse than a faithful
    one: a lower value of a check, a higher share of new bigrams, more words.
    """

    check: str
    baseline: bool
    """Whether it is one of the trivial ones."""
    auroc: float | None
    interval: Interval | None
    """95 %, by bootstrap over documents."""
    interval_reason: Reason | None
    novel_bigrams: float | None
    """AUROC of the share of new bigrams over the known rows of this check."""
    within: float | None
    """AUROC over pairs of summaries by one system."""
    within_pairs: int
    rows: int
    known: int
    """Rows with a value: those that the AUROC is over."""
    unfaithful: int
    """Of the known."""
    documents: int
    """Different ones among the known rows."""
    missing: Mapping[Reason, int]
    """Why the others have no value."""
    reason: Reason | None
    """Why there is no AUROC."""
    detail: str
    """For people; never a text."""

    @property
    def share(self) -> float | None:
        """Share of the rows that have a value."""
        return self.known / self.rows if self.rows else None


def figures(
    rows: Sequence[LabelledSummary],
    checks: Mapping[str, Sequence[FactualScore]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Figure]:
    """The two baselines, then each check, over the rows that it knows.

    `checks` holds by name one score a row, where higher is more faithful. Documents are told
    apart by their text. Raises `MalformedInput` for a check with another number of scores.
    """
    for name, scores in checks.items():
        if len(scores) != len(rows):
            raise MalformedInput(
                f"checks.{name}", f"{len(scores)} scores for {len(rows)} rows", "give one a row"
            )
    novelty = [novel_bigrams(row.document, row.summary) for row in rows]
    trivial: dict[str, list[float | None]] = {
        NOVEL_BIGRAMS: novelty,
        LENGTH: [float(length(row.summary)) for row in rows],
    }
    suspicions = {
        **{name: [_trivial(value) for value in values] for name, values in trivial.items()},
        **{name: [_turned(score) for score in scores] for name, scores in checks.items()},
    }
    return [
        _figure(
            name,
            rows,
            suspicion,
            novelty,
            baseline=name in trivial,
            resamples=resamples,
            seed=seed,
        )
        for name, suspicion in suspicions.items()
    ]


def _trivial(value: float | None) -> FactualScore:
    # A summary of one word or none is the only one without a bigram.
    return FactualScore(value=value, reason=Reason.EMPTY_SUMMARY if value is None else None)


def _turned(score: FactualScore) -> FactualScore:
    """The same with the unfaithful end up; turned by sign, so that ties stay ties."""
    if score.value is None:
        return score
    return FactualScore(value=-score.value, reason=None)


def _figure(
    name: str,
    rows: Sequence[LabelledSummary],
    suspicion: Sequence[FactualScore],
    novelty: Sequence[float | None],
    *,
    baseline: bool,
    resamples: int,
    seed: int,
) -> Figure:
    known = [index for index, score in enumerate(suspicion) if score.value is not None]
    values = np.array([suspicion[index].value for index in known], dtype=np.float64)
    labels = np.array([rows[index].unfaithful for index in known], dtype=np.bool_)
    documents = [rows[index].document for index in known]
    within, pairs = auroc_within(values, labels, [rows[index].model for index in known])
    value = auroc(values, labels)
    interval = auroc_interval(values, labels, documents, resamples=resamples, seed=seed)
    missing = Counter(score.reason for score in suspicion if score.reason is not None)
    reason, detail = None, ""
    if value is None:
        reason, detail = _why(suspicion, missing, len(known))
    return Figure(
        check=name,
        baseline=baseline,
        auroc=value,
        interval=interval,
        interval_reason=None if interval else reason or Reason.TOO_FEW_RUNS,
        novel_bigrams=_over(novelty, known, rows),
        within=within,
        within_pairs=pairs,
        rows=len(rows),
        known=len(known),
        unfaithful=int(labels.sum()),
        documents=len(set(documents)),
        missing=dict(missing),
        reason=reason,
        detail=detail,
    )


def _over(
    novelty: Sequence[float | None], known: Sequence[int], rows: Sequence[LabelledSummary]
) -> float | None:
    """The first baseline over the rows that another signal knows."""
    both = [index for index in known if novelty[index] is not None]
    return auroc(
        np.array([novelty[index] for index in both], dtype=np.float64),
        np.array([rows[index].unfaithful for index in both], dtype=np.bool_),
    )


def _why(
    suspicion: Sequence[FactualScore], missing: Counter[Reason], known: int
) -> tuple[Reason, str]:
    """The commonest reason where no row has a value; else one label is absent."""
    if known or not missing:
        return Reason.TOO_FEW_RUNS, f"the {known} known rows do not hold both labels"
    reason = missing.most_common(1)[0][0]
    return reason, next(score.detail for score in suspicion if score.reason is reason)
