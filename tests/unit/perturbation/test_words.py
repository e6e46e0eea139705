"""Eligibility, inflection, script: what is decided word by word."""

from __future__ import annotations

import pytest
from gensim.models import KeyedVectors
from spacy.language import Language

from monitor.perturbation.eligibility import count_words, is_eligible
from monitor.perturbation.inflection import inflect, match_case, same_family, takes_an
from monitor.perturbation.lexicon import Lexicon
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.planes import Kinds
from monitor.perturbation.script import is_readable


def test_only_content_words_outside_entities_are_eligible(
    language: Language, vectors: KeyedVectors
) -> None:
    """Names, numbers, stop words, addresses and unknown words are protected."""
    doc = language(
        "In Paris, Angela Merkel quickly praised 12 large companies, see http://a.org or "
        "a@b.org, and the qqzzxxyy."
    )
    words = [token.text for token in doc if is_eligible(token, vectors.key_to_index)]
    assert words == ["quickly", "praised", "large", "companies"]


def test_word_tokens_hold_a_letter_or_a_digit(language: Language) -> None:
    """The denominator of the share: 'Rates', 'rose', '5', 'today' and no punctuation."""
    assert count_words(language("Rates rose 5 % today — !")) == 4


@pytest.mark.parametrize(
    ("lemma", "tag", "part", "form"),
    [
        ("company", "NNS", "NOUN", "companies"), ("child", "NNS", "NOUN", "children"),
        ("reach", "VBZ", "VERB", "reaches"), ("hope", "VBG", "VERB", "hoping"),
        ("stop", "VBD", "VERB", "stopped"), ("take", "VBD", "VERB", "took"),
        ("take", "VBN", "VERB", "taken"), ("begin", "VBD", "VERB", "began"),
        ("carry", "VBD", "VERB", "carried"), ("agree", "VBG", "VERB", "agreeing"),
        ("happy", "JJR", "ADJ", "happier"), ("large", "JJS", "ADJ", "largest"),
        ("firm", "NN", "NOUN", "firm"),
    ],
)  # fmt: skip
def test_inflection_is_carried_over(
    lexicon: Lexicon, lemma: str, tag: str, part: str, form: str
) -> None:
    """A neighbour is written in the form of the word that it replaces."""
    assert inflect(lemma, tag, part, lexicon)[0] == form


def test_capitals_are_carried_over() -> None:
    """Title case at the start of a sentence, capitals in a headline."""
    assert match_case("Storm", "gale") == "Gale"
    assert match_case("STORM", "gale") == "GALE"
    assert match_case("storm", "gale") == "gale"


def test_the_article_is_told_by_the_sound() -> None:
    """`a` and `an` are protected, so what follows them must fit."""
    assert [takes_an(w) for w in ("error", "hour", "union", "urgent", "house")] == [
        True, True, False, True, False,
    ]  # fmt: skip


def test_words_of_one_stem_are_one_family() -> None:
    """They hardly reword anything."""
    assert same_family("fire", "firing")
    assert same_family("captured", "recaptured")
    assert not same_family("storm", "gale")


def test_names_are_recognized_by_their_vectors(neighbours: Neighbours) -> None:
    """Of names that stand in no list of ours most are found, and one common word in 50."""
    kinds = Kinds(neighbours)
    unlisted = ["zinni", "kafelnikov", "lukashenko", "koehler", "irina", "gdańsk", "antonio"]
    common = ["market", "quickly", "building", "praised", "government", "strong", "weather"]
    assert len(kinds.names(unlisted)) >= 6
    assert len(kinds.names(common)) <= 1


def test_a_deed_is_not_a_person(neighbours: Neighbours) -> None:
    """`victim` is near `murder`; neither stands for the other."""
    kinds = Kinds(neighbours)
    assert kinds.differ("explosion", ["victim", "blast"]) == {"victim"}
    assert kinds.differ("nurse", ["physician", "bridge"]) == {"bridge"}


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("Rates rose.", True), ("Ставки выросли.", False), ("政府は増税した。", False),
        ("مرحبا بالعالم", False), ("Café, naïve, Łódź", True), ("123 — !", True),
        ("The word Ставки means rates", True),
    ],
)  # fmt: skip
def test_another_script_is_told(text: str, readable: bool) -> None:
    """The language model would tag it at random."""
    assert is_readable(text, "en") is readable
