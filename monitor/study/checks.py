"""The value of every factual check for many judged summaries, or the reason for none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from monitor.factuality.comparator import Comparator, missing
from monitor.factuality.overlap import OverlapCheck, PrecisionRecall
from monitor.records import FactualScore, Reason
from monitor.study.labelled import LabelledSummary

BATCH = 16
"""Pairs between two steps of a progress bar."""

ENTITY_SUPPORT = "entity_support"
NUMBER_SUPPORT = "number_support"
PRECISIONS = {
    # No reason says "no word with content"; such a summary has nothing in it to check.
    "word_precision": Reason.EMPTY_SUMMARY,
    "entity_precision": Reason.NO_ENTITIES,
    "number_precision": Reason.NO_NUMBERS,
}
"""The precisions by name, and why one is unknown for a text that is not empty."""

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
    longest: int,
    steps: Steps = _silently,
) -> dict[str, list[FactualScore]]:
    """By check one score a row, higher is more faithful; each is a value or a reason.

    Support counts every mention of a name or number; precision counts different ones, and
    different content words. A text of more than `longest` code points is `too_long` for
    what the language model reads.
    """
    found: dict[str, list[FactualScore]] = {
        name: [] for name in (ENTITY_SUPPORT, NUMBER_SUPPORT, *PRECISIONS)
    }
    found.update({comparator.name: [] for comparator in comparators})
    batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    for batch in steps(batches):
        pairs = [(row.document, row.summary) for row in batch]
        for support in overlap.check(pairs):
            found[ENTITY_SUPPORT].append(_score(support.entity_support, support.entity_reason))
            found[NUMBER_SUPPORT].append(_score(support.number_support, support.number_reason))
        for name, scores in _precisions(pairs, overlap, longest).items():
            found[name] += scores
        for comparator in comparators:
            found[comparator.name] += comparator.check(pairs)
    return found


def _precisions(
    pairs: Sequence[tuple[str, str]], overlap: OverlapCheck, longest: int
) -> dict[str, list[FactualScore]]:
    # The overlap of an empty or unread text is 0, which would say that all was invented.
    refused = [_unusable(document, summary, longest) for document, summary in pairs]
    usable = [pair for pair, reason in zip(pairs, refused, strict=True) if reason is None]
    overlaps = iter(overlap.overlaps(usable))
    found: dict[str, list[FactualScore]] = {name: [] for name in PRECISIONS}
    for reason in refused:
        if reason is not None:
            for scores in found.values():
                scores.append(missing(reason))
            continue
        each = next(overlaps)
        kinds: tuple[PrecisionRecall, ...] = (each.content_words, each.entities, each.numbers)
        for (name, absent), kind in zip(PRECISIONS.items(), kinds, strict=True):
            found[name].append(_score(kind.precision, absent))
    return found


def _unusable(document: str, summary: str, longest: int) -> Reason | None:
    if not document.strip():
        return Reason.EMPTY_DOCUMENT
    if not summary.strip():
        return Reason.EMPTY_SUMMARY
    return Reason.TOO_LONG if max(len(document), len(summary)) > longest else None


def _score(value: float | None, reason: Reason | None) -> FactualScore:
    return FactualScore(value=value, reason=reason if value is None else None)
