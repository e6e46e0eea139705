"""Texts cut into stretches: joined again they are the text."""

from __future__ import annotations

from monitor.investigate.marking import coloured, with_facts, with_swaps
from monitor.investigate.record_parts import Swap, Word
from monitor.records import UnsupportedFact


def word(start: int, end: int, value: float, *, unstable: bool = False) -> Word:
    return Word(start=start, end=end, text=None, value=value, instability=None, unstable=unstable)


def test_words_carry_sign_and_size_of_their_value() -> None:
    """The greatest has the deepest shade; words without weight stay in the running text."""
    text = "The harbour council agreed."
    words = [word(0, 3, 0.01), word(4, 11, -0.5), word(12, 19, 1.0), word(20, 26, 0.0)]
    assert [(part.text, part.shade) for part in coloured(text, words)] == [
        ("The ", 0),
        ("harbour", -2),
        (" ", 0),
        ("council", 4),
        (" agreed.", 0),
    ]


def test_an_unstable_word_is_marked_even_without_a_shade() -> None:
    """That it has no weight here and much in a version is the point."""
    parts = coloured("a b", [word(0, 1, 1.0), word(2, 3, 0.0, unstable=True)])
    assert [(p.text, p.shade, p.word is not None) for p in parts] == [
        ("a", 4, True),
        (" ", 0, False),
        ("b", 0, True),
    ]


def test_offsets_that_do_not_fit_are_left_out() -> None:
    """A document may have been redacted after it was scored; the text must stay whole."""
    parts = coloured("abc", [word(0, 2, 1.0), word(1, 3, 1.0), word(2, 9, 1.0)])
    assert [part.text for part in parts] == ["ab", "c"]


def test_replacements_are_marked_in_the_reworded_text() -> None:
    """The original is shown beside it; a swap without a place is not guessed."""
    swaps = [
        Swap(start=2, start_in_version=2, original="red", replacement="blue", similarity=0.7),
        Swap(start=6, start_in_version=None, original="hat", replacement="cap", similarity=0.7),
    ]
    parts = with_swaps("a blue cap", swaps)
    assert [(p.text, p.swap.original if p.swap else None) for p in parts] == [
        ("a ", None),
        ("blue", "red"),
        (" cap", None),
    ]


def test_unsupported_facts_are_marked_where_they_stand() -> None:
    """In the order of the text; one that is not there is not marked elsewhere."""
    facts = [
        UnsupportedFact(kind="number", text="42", start=10),
        UnsupportedFact(kind="entity", text="Dublin", start=0),
        UnsupportedFact(kind="entity", text="Dublin", start=3),
        UnsupportedFact(kind="entity", text="", start=5),
    ]
    parts = with_facts(
        "Dublin got 42.", [*facts, UnsupportedFact(kind="number", text="42", start=11)]
    )
    assert [(p.text, p.unsupported is not None) for p in parts] == [
        ("Dublin", True),
        (" got ", False),
        ("42", True),
        (".", False),
    ]
