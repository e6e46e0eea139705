"""What of a summary stands in its document: names, numbers and content words, by overlap."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from monitor.errors import ConfigurationError
from monitor.factuality.names import NameIndex
from monitor.factuality.quantities import offered, quantities
from monitor.records import Reason, Support, UnsupportedFact

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

NAMED = frozenset(
    {
        "EVENT", "FAC", "GPE", "LANGUAGE", "LAW", "LOC", "NORP", "ORG", "PERSON", "PRODUCT",
        "WORK_OF_ART",
    }
)  # fmt: skip
"""Entity labels that are names; the others (dates, money, …) are read as numbers, by value."""
T = TypeVar("T", bound=Hashable)

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})
_BATCH = 32
UNUSED_FOR_NAMES = ("tagger", "morphologizer", "parser", "senter", "attribute_ruler", "lemmatizer")


@dataclass(frozen=True, kw_only=True, slots=True)
class PrecisionRecall:
    """How two sets of words or facts overlap."""

    precision: float | None
    """Share of the summary's that the document holds; `None` where the summary has none."""
    recall: float | None
    """Share of the document's that the summary holds; `None` where the document has none."""
    f1: float | None
    """Harmonic mean of both, 0 where both are 0; `None` where one is unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """Overlap of one summary with its document."""

    content_words: PrecisionRecall
    entities: PrecisionRecall
    numbers: PrecisionRecall


class OverlapCheck:
    """`ports.SupportCheck`, and the overlap figures, with one spaCy pipeline.

    Names come from the pipeline's entity recognizer, run over the summary only: looking
    its names up in the document's words does not depend on what the recognizer finds there.
    Numbers, dates and times are compared by value (see `quantities`). Each mention counts.

    What it cannot see: a true name or number in a wrong place, and whatever the recognizer
    does not take for a name. Measured with the small English pipeline on 40 documents of
    many kinds (`pytest tests/unit/factuality/test_overlap_on_data.py -rP`): of 313 names and
    numbers in copied sentences none is reported; of 160 names replaced by one of their kind
    from another document 145 are, and nearly all others were not recognized as names.
    """

    def __init__(self, nlp: Language) -> None:
        """Raises `ConfigurationError` for a pipeline without an entity recognizer."""
        if not nlp.has_pipe("ner"):
            raise ConfigurationError(
                f"perturbation.language_model: pipeline with {nlp.pipe_names} has no entity "
                "recognizer; choose a full pipeline such as 'en_core_web_sm'"
            )
        self._nlp = nlp
        self._skipped = [name for name in UNUSED_FOR_NAMES if nlp.has_pipe(name)]

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        """Support of the entities and numbers of each (document, summary)."""
        summaries = self._parsed([summary for _, summary in pairs], disable=self._skipped)
        return [
            _unknown(reason) if reason else _support(document, parsed)
            for (document, summary), parsed in zip(pairs, summaries, strict=True)
            for reason in [_unusable(document, summary, self._nlp.max_length)]
        ]

    def overlaps(self, pairs: Sequence[tuple[str, str]]) -> list[Overlap | Reason]:
        """Precision, recall and F1 of distinct content words, entities and numbers.

        Content words are the lemmas of nouns, names, verbs, adjectives and adverbs that are
        letters only and no stop words. An entity or number counts as shared where the other
        text supports it, by the rules of `check`. For an empty or unread text the reason: its
        overlap would be 0, which would say that all was invented.
        """
        refused = [self._unread(document, summary) for document, summary in pairs]
        usable = [pair for pair, reason in zip(pairs, refused, strict=True) if reason is None]
        parsed = iter(self._parsed([text for pair in usable for text in pair], disable=[]))
        return [
            _overlap(next(parsed), next(parsed)) if reason is None else reason for reason in refused
        ]

    def _unread(self, document: str, summary: str) -> Reason | None:
        """Here the document is parsed, too."""
        reason = _unusable(document, summary, self._nlp.max_length)
        too_long = len(document) > self._nlp.max_length
        return reason or (Reason.TOO_LONG if too_long else None)

    def _parsed(self, texts: Sequence[str], *, disable: Iterable[str]) -> list[Doc]:
        # A text above the pipeline's limit makes it raise; the answer for it is `too_long`.
        short = [text if len(text) <= self._nlp.max_length else "" for text in texts]
        return list(self._nlp.pipe(short, batch_size=_BATCH, disable=list(disable)))


def _unusable(document: str, summary: str, longest: int) -> Reason | None:
    if not document.strip():
        return Reason.EMPTY_DOCUMENT
    if not summary.strip():
        return Reason.EMPTY_SUMMARY
    return Reason.TOO_LONG if len(summary) > longest else None


def _support(document: str, summary: Doc) -> Support:
    index, offers = NameIndex(document), offered(document)
    names = _names(summary)
    numbers = [quantity for quantity in quantities(summary.text) if quantity.demands]
    unsupported = [
        UnsupportedFact(kind="entity", text=name.text, start=name.start_char)
        for name in names
        if not index.supports(name.text, person=name.label_ == "PERSON")
    ]
    without_name = len(unsupported)
    unsupported += [
        UnsupportedFact(kind="number", text=number.text, start=number.start)
        for number in numbers
        if not number.demands & offers
    ]
    return Support(
        entity_support=1 - without_name / len(names) if names else None,
        entity_reason=None if names else Reason.NO_ENTITIES,
        number_support=1 - (len(unsupported) - without_name) / len(numbers) if numbers else None,
        number_reason=None if numbers else Reason.NO_NUMBERS,
        unsupported=tuple(sorted(unsupported, key=lambda fact: (fact.start, fact.kind))),
        entities=len(names),
        numbers=len(numbers),
    )


def _unknown(reason: Reason) -> Support:
    return Support(
        entity_support=None,
        entity_reason=reason,
        number_support=None,
        number_reason=reason,
        unsupported=(),
        entities=0,
        numbers=0,
    )


def _names(text: Doc) -> list[Span]:
    return [entity for entity in text.ents if entity.label_ in NAMED]


def _overlap(document: Doc, summary: Doc) -> Overlap:
    words, own = _lemmas(document), _lemmas(summary)
    names, own_names = _distinct(document), _distinct(summary)
    index, own_index = NameIndex(document.text), NameIndex(summary.text)
    values, own_values = _values(document), _values(summary)
    offers, own_offers = offered(document.text), offered(summary.text)
    return Overlap(
        content_words=_shares(own, words.__contains__, words, own.__contains__),
        entities=_shares(
            own_names,
            lambda name: index.supports(name[0], person=name[1]),
            names,
            lambda name: own_index.supports(name[0], person=name[1]),
        ),
        numbers=_shares(
            own_values,
            lambda demands: bool(demands & offers),
            values,
            lambda demands: bool(demands & own_offers),
        ),
    )


def _lemmas(text: Doc) -> set[str]:
    return {
        token.lemma_.casefold()
        for token in text
        if token.is_alpha and not token.is_stop and token.pos_ in CONTENT
    }


def _distinct(text: Doc) -> set[tuple[str, bool]]:
    return {(" ".join(name.text.split()), name.label_ == "PERSON") for name in _names(text)}


def _values(text: Doc) -> set[frozenset[tuple[object, ...]]]:
    return {frozenset(q.demands) for q in quantities(text.text) if q.demands}


def _shares(
    summary: Collection[T],
    in_document: Callable[[T], bool],
    document: Collection[T],
    in_summary: Callable[[T], bool],
) -> PrecisionRecall:
    precision = _share(summary, in_document)
    recall = _share(document, in_summary)
    f1: float | None = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return PrecisionRecall(precision=precision, recall=recall, f1=f1)


def _share(items: Collection[T], held: Callable[[T], bool]) -> float | None:
    return sum(map(held, items)) / len(items) if items else None
