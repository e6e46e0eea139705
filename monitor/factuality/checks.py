"""All factual checks of records, by name: overlap figures and the models' scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from monitor.factuality.comparator import Comparator, missing
from monitor.factuality.overlap import Overlap, OverlapCheck, PrecisionRecall
from monitor.records import FactualScore, Reason

KINDS = ("content_word", "entity", "number")
FIGURES = ("precision", "recall", "f1")


class FactualChecks:
    """The pipeline's check stage.

    `{content_word,entity,number}_{precision,recall,f1}` (see `OverlapCheck.overlaps`), and one
    score a comparator under its own name (`summac`, `factcc`). A check whose model is not
    there is `unavailable`.
    """

    def __init__(self, overlap: OverlapCheck, comparators: Sequence[Comparator]) -> None:
        self._overlap = overlap
        self._comparators = tuple(comparators)

    def check(self, document: str, summary: str) -> dict[str, FactualScore]:
        """Each check's value, or the reason why it has none."""
        return self.check_pairs([(document, summary)])[0]

    def check_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, FactualScore]]:
        """The same for each (document, summary), in batches."""
        found = [
            _without(overlap) if isinstance(overlap, Reason) else _by_name(overlap)
            for overlap in self._overlap.overlaps(pairs)
        ]
        for comparator in self._comparators:
            for checks, score in zip(found, comparator.check(pairs), strict=True):
                checks[comparator.name] = score
        return found


def _without(reason: Reason) -> dict[str, FactualScore]:
    return {f"{kind}_{figure}": missing(reason) for kind, figure in product(KINDS, FIGURES)}


def _by_name(overlap: Overlap) -> dict[str, FactualScore]:
    # No reason says "no word with content"; such a text has nothing in it to check.
    words = _figures(
        "content_word", overlap.content_words, Reason.EMPTY_SUMMARY, Reason.EMPTY_DOCUMENT
    )
    entities = _figures("entity", overlap.entities, Reason.NO_ENTITIES, Reason.NO_ENTITIES)
    numbers = _figures("number", overlap.numbers, Reason.NO_NUMBERS, Reason.NO_NUMBERS)
    return {**words, **entities, **numbers}


def _figures(
    name: str, figures: PrecisionRecall, no_precision: Reason, no_recall: Reason
) -> dict[str, FactualScore]:
    without = no_precision if figures.precision is None else no_recall
    return {
        f"{name}_precision": _score(figures.precision, no_precision),
        f"{name}_recall": _score(figures.recall, no_recall),
        f"{name}_f1": _score(figures.f1, without),
    }


def _score(value: float | None, reason: Reason) -> FactualScore:
    return missing(reason) if value is None else FactualScore(value=value, reason=None)
