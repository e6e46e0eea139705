"""K reworded versions of a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gensim.test.utils import datapath
from spacy.language import Language

from monitor.embedding.sbert import SbertEncoder
from monitor.perturbation.eligibility import count_words, is_eligible
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.perturber import SubstitutionPerturber
from monitor.records import (
    FloatArray,
    PerturbationSet,
    Reason,
    Strength,
    SummaryDistribution,
)

DOCUMENT = (
    "The company announced a large increase in profits on Monday. Analysts praised the strong "
    "results, but warned that costs would rise. Officials in Paris said the government "
    "was reviewing the proposal, and that a decision was expected before the summer.  The "
    "firm's chairman, John Smith, told reporters that workers had accepted the offer."
)


@pytest.fixture(scope="module")
def made(perturber: SubstitutionPerturber) -> PerturbationSet:
    return perturber.perturb(DOCUMENT, seed=7)


def test_there_are_k_versions_with_the_fixed_mix_of_strengths(made: PerturbationSet) -> None:
    """3 low, 3 moderate, 2 high; all differ from each other and from the document."""
    assert [p.strength.value for p in made.perturbations] == (
        ["low"] * 3 + ["moderate"] * 3 + ["high"] * 2
    )
    texts = [p.document for p in made.perturbations]
    assert len({*texts, DOCUMENT}) == 9
    assert made.reason is None


def test_counts_are_those_of_the_parsed_document(
    made: PerturbationSet, language: Language, neighbours: Neighbours
) -> None:
    """`share` is replaced tokens over word tokens, and `reached` follows from it."""
    doc = language(DOCUMENT)
    assert made.words == count_words(doc)
    assert made.eligible == sum(is_eligible(token, neighbours.vocabulary) for token in doc)
    for p in made.perturbations:
        assert p.share == len(p.substitutions) / made.words
        assert p.reached is p.strength.contains(p.share)


def test_everything_outside_the_replaced_tokens_stays_as_it_was(
    made: PerturbationSet, language: Language, neighbours: Neighbours
) -> None:
    """Both versions have the same tokens at the same places, protected ones unchanged."""
    before = [token for token in language(DOCUMENT) if not token.is_space]
    allowed = {t.i for t in language(DOCUMENT) if is_eligible(t, neighbours.vocabulary)}
    for p in made.perturbations:
        after = [token for token in language(p.document) if not token.is_space]
        assert len(before) == len(after)
        places = {s.index: s for s in p.substitutions}
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            assert old.whitespace_ == new.whitespace_
            if index in places:
                assert old.i in allowed
                assert (old.text, new.text) == (
                    places[index].original,
                    places[index].replacement,
                )
                assert places[index].start == old.idx
            else:
                assert old.text == new.text


def test_changed_sentences_stay_close(
    made: PerturbationSet, language: Language, encoder: SbertEncoder
) -> None:
    """γ = 0.85 holds for each changed sentence, and `min_cosine` is the least of them."""
    before = language(DOCUMENT)
    for p in made.perturbations:
        after = language(p.document)
        pairs = [(s.text, after[s.start : s.end].text) for s in before.sents]
        changed = [pair for pair in pairs if pair[0] != pair[1]]
        vectors = encoder.encode([text.strip() for pair in changed for text in pair])
        cosines = np.einsum("ij,ij->i", vectors[0::2], vectors[1::2])
        assert cosines.min() >= 0.85
        assert p.min_cosine == pytest.approx(cosines.min(), abs=1e-6)


def test_replaced_words_are_near_and_keep_tag_and_capitals(
    made: PerturbationSet, language: Language, neighbours: Neighbours
) -> None:
    """τ = 0.6 holds for the words as they are written."""
    for p in made.perturbations:
        for s in p.substitutions:
            cosine = neighbours.similarity(s.original.lower(), s.replacement.lower())
            assert s.similarity == pytest.approx(cosine, abs=1e-9)
            assert cosine >= 0.6
            assert s.original[0].isupper() == s.replacement[0].isupper()


def test_the_same_document_and_seed_give_the_same_versions_in_a_fresh_process_state(
    made: PerturbationSet,
    language: Language,
    neighbours: Neighbours,
    encoder: SbertEncoder,
    perturber: SubstitutionPerturber,
) -> None:
    """Neither what was perturbed before nor what is cached has an influence."""
    perturber.perturb("Another document about heavy storms and rising floods.", seed=7)
    fresh = SubstitutionPerturber(language, neighbours, encoder)
    assert perturber.perturb(DOCUMENT, seed=7) == made
    assert fresh.perturb(DOCUMENT, seed=7) == made


def test_another_seed_gives_other_versions(
    made: PerturbationSet, perturber: SubstitutionPerturber
) -> None:
    """The seed is an input, not an ornament."""
    assert perturber.perturb(DOCUMENT, seed=8) != made


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("", Reason.EMPTY_DOCUMENT),
        (" \n\t ", Reason.EMPTY_DOCUMENT),
        ("Hello", Reason.NO_ELIGIBLE_TOKENS),
        ("1 2 3 !!", Reason.NO_ELIGIBLE_TOKENS),
        ("The of and to.", Reason.NO_ELIGIBLE_TOKENS),
        ("winds", Reason.NO_ACCEPTED_PERTURBATION),
        ("Правительство повысило налоги.", Reason.UNSUPPORTED_LANGUAGE),
        ("مرحبا بكم في المدينة", Reason.UNSUPPORTED_LANGUAGE),
        ("\U0001f600 \U0001f468‍\U0001f469", Reason.NO_ELIGIBLE_TOKENS),
    ],
)
def test_without_a_version_there_is_a_reason(
    perturber: SubstitutionPerturber, document: str, reason: Reason
) -> None:
    """Skipped with a reason, never scored 0."""
    made = perturber.perturb(document, seed=0)
    assert made.perturbations == ()
    assert made.reason is reason


@pytest.mark.parametrize(
    "document",
    [
        "a\x00b The minister\x00 praised the strong company.",
        "\u202eabc\u202c The firm won a large contract \U0001f468‍\U0001f469 today.",
        "x\ud800 the large company said it was pleased.",
        "The\r\n\r\nlarge   company\t said it\xa0was   pleased .\n\n",
    ],
)
def test_odd_characters_and_white_space_survive(
    perturber: SubstitutionPerturber, document: str
) -> None:
    """Putting the originals back gives the document, byte for byte."""
    made = perturber.perturb(document, seed=1)
    assert made.perturbations
    for p in made.perturbations:
        restored = p.document
        for s in p.substitutions:
            start = s.start
            assert restored[start : start + len(s.replacement)] == s.replacement
            restored = restored[:start] + s.original + restored[start + len(s.replacement) :]
        assert restored == document


def test_a_short_document_is_reworded_though_no_count_lies_in_the_band(
    perturber: SubstitutionPerturber,
) -> None:
    """One of five words is 20 %: too much for low, and said so."""
    made = perturber.perturb("The huge company praised officials.", seed=0)
    low = [p for p in made.perturbations if p.strength is Strength.LOW]
    assert low and not any(p.reached for p in low)


class Counting:
    """An encoder to which all sentences mean the same; counts what it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.characters = 0

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        self.characters += sum(map(len, sentences))
        return np.ones((len(sentences), 1))

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        raise NotImplementedError


def test_cost_grows_with_length_and_not_with_its_square(
    language: Language, neighbours: Neighbours
) -> None:
    """A list without full stops is no sentence of a thousand words: 4 times the text, 4 times
    the embedding."""
    words = "strong companies praised large results and warned officials about heavy costs "
    asked = []
    for repeat in (10, 40):
        encoder = Counting()
        perturber = SubstitutionPerturber(
            language, neighbours, encoder, strengths={Strength.LOW: 1}
        )
        assert perturber.perturb(words * repeat, seed=1).perturbations
        asked.append(encoder.characters)
    assert asked[1] < 5 * asked[0]


def test_news_reaches_its_bands(perturber: SubstitutionPerturber) -> None:
    """A real document: every version at low and moderate strength is in its band."""
    text = Path(datapath("lee_background.cor")).read_text(encoding="utf-8")
    made = perturber.perturb(text.splitlines()[1], seed=0)
    reached = [p.strength for p in made.perturbations if p.reached]
    assert (reached.count(Strength.LOW), reached.count(Strength.MODERATE)) == (3, 3)
