"""The value of every factual check for many judged summaries, or the reason for none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from monitor.factuality.checks import FactualChecks
from monitor.factuality.comparator import Comparator
from monitor.factuality.overlap import OverlapCheck
from monitor.records import FactualScore, Reason
from monitor.study.labelled import LabelledSummary

BATCH = 16
"""Pairs between two steps of a progress bar."""

ENTITY_SUPPORT = "entity_support"
NUMBER_SUPPORT = "number_support"
PRECISIONS = ("content_word_precision", "entity_precision", "number_precision")

Steps = Callable[[Sequence[Sequence[LabelledSummary]]], Iterable[Sequence[LabelledSummary]]]
"""Goes through the batches, showing how far it is."""


def _silently(
    batches: Sequence[Sequence[LabelledSummary]],
) -> Iterable[Sequence[LabelledSummary]]:
    return batches


def check_all(
    rows: Sequence[LabelledSummary],
    overlap: OverlapCheck,
    comparators: Sequence[Comparator],
    *,
    steps: Steps = _silently,
) -> dict[str, list[FactualScore]]:
    """By check one score a row, higher is more faithful; each is a value or a reason.

    Support counts every mention of a name or number; precision counts different ones, and
    different content words.
    """
    checks = FactualChecks(overlap, comparators)
    kept = [*PRECISIONS, *(comparator.name for comparator in comparators)]
    found: dict[str, list[FactualScore]] = {
        name: [] for name in (ENTITY_SUPPORT, NUMBER_SUPPORT, *kept)
    }
    batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    for batch in steps(batches):
        pairs = [(row.document, row.summary) for row in batch]
        for support in overlap.check(pairs):
            found[ENTITY_SUPPORT].append(_score(support.entity_support, support.entity_reason))
            found[NUMBER_SUPPORT].append(_score(support.number_support, support.number_reason))
        for scores in checks.check_pairs(pairs):
            for name in kept:
                found[name].append(scores[name])
    return found


def _score(value: float | None, reason: Reason | None) -> FactualScore:
    return FactualScore(value=value, reason=reason if value is None else None)
