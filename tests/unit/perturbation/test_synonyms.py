"""Words that were read and found to mean the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.embedding.sbert import SbertEncoder
from monitor.perturbation.candidates import Candidates, Word
from monitor.perturbation.lexicon import Lexicon
from monitor.perturbation.meaning import MeaningGuard, Refusal
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.planes import Kinds
from monitor.perturbation.wordlists import synonyms

SAID = Word(key="said", tag="VBD", part="VERB", lemma="say")
ADDED = Word(key="added", tag="VBD", part="VERB", lemma="add")
JAIL = Word(key="jail", tag="NN", part="NOUN", lemma="jail")
POLICE = Word(key="police", tag="NNS", part="NOUN", lemma="police")
POLICE_STATION = replace(POLICE, tag="NN")
COMPANY = Word(key="company", tag="NN", part="NOUN", lemma="company")


@pytest.fixture(scope="module")
def candidates(
    neighbours: Neighbours, lexicon: Lexicon, guard: MeaningGuard, encoder: SbertEncoder
) -> Candidates:
    return Candidates(
        neighbours,
        lexicon=lexicon,
        guard=guard,
        kinds=Kinds(neighbours),
        encoder=encoder,
        is_function_word=lambda word: False,
        floor=0.25,
    )


def test_what_was_read_is_taken_though_the_encoder_sees_no_likeness(
    candidates: Candidates,
) -> None:
    """`said` and `added` have a cosine of .21 without their sentence; news uses both alike."""
    first = candidates.of([SAID])[SAID][0]
    assert (first.word, first.vouched) == ("added", True)
    assert first.closeness < 0.25


def test_a_third_column_holds_in_one_direction_only(candidates: Candidates) -> None:
    """`added two goals` is not `said two goals`."""
    assert "said" not in [c.word for c in candidates.of([ADDED])[ADDED]]


def test_a_plural_stands_in_for_plurals_only(candidates: Candidates) -> None:
    """`The police said` may be `the officers said`; a `police station` is no `officer station`."""
    found = candidates.of([POLICE, POLICE_STATION])
    people = {
        word: {c.word for c in found[word] if c.vouched} & {"officer", "officers"}
        for word in (POLICE, POLICE_STATION)
    }
    assert people == {POLICE: {"officers"}, POLICE_STATION: set()}


@pytest.mark.parametrize(
    ("part", "word", "other"),
    [
        ("NOUN", "strike", "attack"),  # of pilots
        ("NOUN", "try", "attempt"),  # in rugby
        ("NOUN", "bank", "lender"),  # of a river
        ("NOUN", "death", "fatality"),  # as a penalty
        ("NOUN", "injury", "wound"),  # of a knee
        ("NOUN", "game", "match"),  # in tennis
        ("NOUN", "treatment", "therapy"),  # of prisoners
        ("VERB", "find", "discover"),  # guilty
        ("VERB", "carry", "transport"),  # out
        ("VERB", "appear", "seem"),  # in court
        ("VERB", "try", "attempt"),  # for murder
        ("VERB", "detain", "arrest"),  # asylum seekers
        ("VERB", "claim", "allege"),  # responsibility
        ("ADJ", "international", "global"),  # an airport
        ("ADJ", "suspected", "alleged"),  # a cancer
    ],
)
def test_what_holds_in_one_sense_of_a_word_only_is_not_listed(
    part: str, word: str, other: str
) -> None:
    """A listed pair is taken before all others, in whatever sense the word is used."""
    assert other not in synonyms().get((part, word), frozenset())


def test_a_class_of_another_sense_does_not_refuse_what_was_read(
    candidates: Candidates, guard: MeaningGuard
) -> None:
    """As a sentence `jail` is no `prison`; as a building it is."""
    assert guard.refusal("jail", "prison") is Refusal.SIBLING
    assert candidates.of([JAIL])[JAIL][0].word == "prison"


def test_what_was_read_comes_before_what_was_not(candidates: Candidates) -> None:
    """Then the closest in meaning: the order in which options are tried."""
    vouched = [candidate.vouched for candidate in candidates.of([COMPANY])[COMPANY]]
    assert {*vouched} == {True, False}
    assert vouched == sorted(vouched, reverse=True)


def test_no_listed_pair_is_an_opposite(guard: MeaningGuard) -> None:
    """The list may overrule classes and names; a pair that flips a meaning has no place in it."""
    allowed = {None, Refusal.SIBLING, Refusal.NAME}
    flipped = [
        (word, other)
        for (_, word), others in synonyms().items()
        for other in others
        if guard.refusal(word, other) not in allowed
    ]
    assert flipped == []


def test_the_list_is_well_formed() -> None:
    """A misspelled part of speech would make a line without effect."""
    assert {part for part, _ in synonyms()} == {"NOUN", "VERB", "ADJ", "ADV"}
    for (_, word), others in synonyms().items():
        assert others and word not in others
        assert all(each.isalpha() and each.islower() for each in (word, *others))


def test_a_listed_person_is_one_whatever_the_vectors_say(neighbours: Neighbours) -> None:
    """`report` and `official` lie so near that the plane alone is not sure."""
    kinds = Kinds(neighbours)
    assert kinds.differ("report", ["official", "statement"]) == {"official"}
