"""Words and sentences: what attributions are aligned by."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.attribution.segmentation import segment, spread


def test_words_of_a_substituted_document_align_one_to_one() -> None:
    """Instability compares position by position, so a substitution must keep the count."""
    before = segment("The well-known bank didn't cut its 3.5% rate, U.S. officials said.")
    after = segment("The well-liked bank didn't slash its 3.5% rate, U.S. leaders said.")
    assert len(before.words) == len(after.words)
    assert before.sentences.tolist() == after.sentences.tolist()


def test_masking_keeps_every_word_position() -> None:
    """Joined placeholders would move the words behind them."""
    cut = segment("One two, three four.")
    masked = cut.render(np.array([True, False, False, True]), placeholder="_")
    assert masked == "One _, _ four."


def test_full_mask_renders_the_document_itself() -> None:
    """v(all) must be the value of the very document."""
    document = "  Prices\n rose — again!  "
    cut = segment(document)
    assert cut.render(np.ones(3, dtype=bool)) == document


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("", ()),
        ("… !", ()),
        ("word", ("word",)),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("Цены выросли.", ("Цены", "выросли")),
        ("株価は上昇", ("株", "価", "は", "上", "昇")),
    ],
)
def test_words_in_any_script(document: str, words: tuple[str, ...]) -> None:
    """Marks stay with their letters, and unspaced scripts have one word a character."""
    assert segment(document).words == words


def test_initials_and_abbreviations_do_not_end_a_sentence() -> None:
    """Else half of the news' sentences would break at U.S."""
    cut = segment("The U.S. Senate met. It voted approx. twice.")
    assert cut.sentences.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_sentences_of_a_parser_are_numbered_without_gaps() -> None:
    """A sentence of punctuation alone holds no word and would be an empty player."""
    cut = segment("Hi. … Bye.", sentence_starts=[0, 4, 6])
    assert cut.sentences.tolist() == [0, 1]


def test_spread_keeps_the_sum() -> None:
    """Sharing a sentence's value among its words must not change v(all) − v(none)."""
    values = spread(np.array([0.9, -0.4]), np.array([0, 0, 0, 1]))
    assert values.tolist() == pytest.approx([0.3, 0.3, 0.3, -0.4])
