"""Splitting texts into sentences."""

from __future__ import annotations

import pytest

from monitor.embedding.sentences import SentenceSplitter


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Mr. Smith met Dr. J. K. Jones at 3.5 p.m. on Jan. 5. They spoke.",
            ["Mr. Smith met Dr. J. K. Jones at 3.5 p.m. on Jan. 5.", "They spoke."],
        ),
        ('"Is it?" he asked. It was.', ['"Is it?" he asked.', "It was."]),
        ("- one thing here\n- two things\n\n3) three", ["one thing here", "two things", "three"]),
        ("A line that is\nwrapped here.", ["A line that is wrapped here."]),
        ("", []),
        (" . \n…", []),
        ("nul\x00byte", ["nul byte"]),
        ("lone \ud800 surrogate", ["lone \ufffd surrogate"]),
    ],
)
def test_a_text_is_split(splitter: SentenceSplitter, text: str, sentences: list[str]) -> None:
    """Abbreviations end nothing; bullets and blank lines always do; no text without words."""
    assert splitter.split([text]) == [sentences]


def test_texts_keep_their_order(splitter: SentenceSplitter) -> None:
    """One pass over many texts, an empty one among them."""
    assert splitter.split(["One. Two.", "", "Three."]) == [["One.", "Two."], [], ["Three."]]


def test_no_word_is_lost_in_a_long_run(splitter: SentenceSplitter) -> None:
    """A run longer than one block is cut at white space."""
    text = "storm " * 20_000
    found = splitter.split([text])[0]
    assert sum(len(sentence.split()) for sentence in found) == 20_000
