"""All factual checks of one record, by name: overlap figures and the models' scores."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.factuality.comparator import Comparator, missing
from monitor.factuality.overlap import OverlapCheck, PrecisionRecall
from monitor.records import FactualScore, Reason


class FactualChecks:
    """The pipeline's check stage.

    `{content_word,entity,number}_{precision,recall,f1}` (see `OverlapCheck.overlaps`), and one
    score a comparator under its own name (`summac`, `factcc`). A check whose model is not
    there is `unavailable`.
    """

    def __init__(
        self, overlap: OverlapCheck, comparators: Sequence[Comparator], *, longest: int
    ) -> None:
        """`longest`: code points that the language model reads; longer texts are `too_long`."""
        self._overlap = overlap
        self._comparators = tuple(comparators)
        self._longest = longest

    def check(self, document: str, summary: str) -> dict[str, FactualScore]:
        """Each check's value, or the reason why it has none."""
        found: dict[str, FactualScore] = {}
        readable = max(len(document), len(summary)) <= self._longest
        if readable:
            (overlap,) = self._overlap.overlaps([(document, summary)])
            found |= _figures(
                "content_word", overlap.content_words, Reason.EMPTY_SUMMARY, Reason.EMPTY_DOCUMENT
            )
            for name, figures, reason in (
                ("entity", overlap.entities, Reason.NO_ENTITIES),
                ("number", overlap.numbers, Reason.NO_NUMBERS),
            ):
                found |= _figures(name, figures, reason, reason)
        else:
            for name in ("content_word", "entity", "number"):
                for figure in ("precision", "recall", "f1"):
                    found[f"{name}_{figure}"] = missing(Reason.TOO_LONG)
        for comparator in self._comparators:
            (found[comparator.name],) = comparator.check([(document, summary)])
        return found


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
