"""The guard against replacements that change what a document says."""

from __future__ import annotations

import pytest

from monitor.perturbation.antonyms import Antonyms
from monitor.perturbation.lexicon import Lexicon
from monitor.perturbation.meaning import MeaningGuard, Refusal
from monitor.perturbation.wordlists import names, opposite_pairs, opposites, siblings


@pytest.mark.parametrize(
    ("original", "replacement"),
    [
        ("increase", "decrease"), ("rise", "fall"), ("guilty", "acquitted"), ("buy", "sell"),
        ("win", "lose"), ("before", "after"), ("bullish", "bearish"), ("benign", "malignant"),
        ("fell", "climbs"), ("rapidly", "slowly"), ("bought", "selling"), ("higher", "lower"),
    ],
)  # fmt: skip
def test_listed_opposites_are_refused_in_every_inflection(
    guard: MeaningGuard, original: str, replacement: str
) -> None:
    """Vectors put opposites side by side; a flipped document is no rewording."""
    assert guard.refusal(original, replacement) is not None
    assert guard.refusal(replacement, original) is not None


@pytest.mark.parametrize(
    ("original", "replacement"),
    [
        ("likely", "unlikely"), ("legal", "illegal"), ("regular", "irregular"),
        ("agree", "disagree"), ("careful", "careless"), ("import", "export"),
        ("employer", "employee"), ("overestimate", "underestimate"), ("strange", "unusual"),
    ],
)  # fmt: skip
def test_negation_inside_a_word_is_refused(
    guard: MeaningGuard, original: str, replacement: str
) -> None:
    """A prefix or suffix on one side only turns the sentence round."""
    assert guard.refusal(original, replacement) is Refusal.NEGATION


@pytest.mark.parametrize(
    ("original", "replacement"),
    [("monday", "tuesday"), ("june", "july"), ("father", "uncle"), ("dollars", "euros"),
     ("red", "blue"), ("cars", "trucks"), ("minister", "senator"), ("lungs", "kidneys"),
     ("million", "billion"), ("weekly", "monthly")],
)  # fmt: skip
def test_members_of_a_closed_class_do_not_stand_for_each_other(
    guard: MeaningGuard, original: str, replacement: str
) -> None:
    """Another weekday, relative or organ is another fact."""
    assert guard.refusal(original, replacement) is not None


def test_a_nationality_never_comes_in(guard: MeaningGuard) -> None:
    """`iraqi` is a near neighbour of `military`, and is another claim."""
    assert guard.refusal("military", "iraqi") is Refusal.NAME


@pytest.mark.parametrize(
    ("original", "replacement"),
    [("firm", "company"), ("improve", "enhance"), ("important", "significant"),
     ("investigate", "examine"), ("quickly", "swiftly"), ("increased", "climbed"),
     ("discuss", "debate"), ("cars", "automobiles")],
)  # fmt: skip
def test_words_that_mean_the_same_pass(
    guard: MeaningGuard, original: str, replacement: str
) -> None:
    """A guard that refuses everything would leave nothing to measure."""
    assert guard.refusal(original, replacement) is None


def test_antonyms_of_wordnet_are_refused_where_it_is_installed(lexicon: Lexicon) -> None:
    """Only its antonym relation is asked for, by base form."""

    class Lemma:
        def __init__(self, name: str, antonyms: list[Lemma]) -> None:
            self._name, self._antonyms = name, antonyms

        def name(self) -> str:
            return self._name

        def antonyms(self) -> list[Lemma]:
            return self._antonyms

    class Synset:
        def lemmas(self) -> list[Lemma]:
            return [Lemma("firm", [Lemma("Infirm", [])])]

    class Wordnet:
        def synsets(self, word: str) -> list[Synset]:
            return [Synset()] if word == "firm" else []

    guard = MeaningGuard(lexicon, contrasts=[], antonyms=Antonyms(Wordnet()))
    assert guard.refusal("lone", "firm") is None
    assert Antonyms(Wordnet()).any({"firm"}, {"infirm"})
    assert Antonyms(Wordnet()).any({"infirm"}, {"firm"})


def test_the_lists_are_as_long_as_promised_and_well_formed() -> None:
    """At least 800 pairs; kinds are known; no slot is empty; no word stands in two slots."""
    assert len(opposite_pairs()) >= 800
    assert len(names()) >= 500
    for contrast in (*opposites(), *siblings()):
        assert contrast.kind in {"open", "closed", "fact"}
        assert len(contrast.slots) >= 2 and all(contrast.slots), contrast.name
        words = [word for slot in contrast.slots for word in slot]
        assert len(words) == len(set(words)), contrast.name


def test_every_listed_pair_of_opposites_is_refused(guard: MeaningGuard) -> None:
    """What is written in the list must hold in the guard, both ways."""
    missed = [
        pair
        for pair in map(tuple, opposite_pairs())
        if guard.refusal(pair[0], pair[1]) is None or guard.refusal(pair[1], pair[0]) is None
    ]
    assert missed == []
