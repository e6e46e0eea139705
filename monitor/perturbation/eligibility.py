"""Which tokens of a document may be replaced."""

from __future__ import annotations

from collections.abc import Container

from spacy.tokens import Doc, Token

OPEN_CLASSES = frozenset({"NOUN", "VERB", "ADJ", "ADV"})
"""Universal parts of speech that take new words; the others hold a sentence together."""


def is_word(token: Token) -> bool:
    """A word token: it holds a letter or a digit. Their number is the denominator of `share`."""
    return any(map(str.isalnum, token.text))


def vector_key(word: str, vocabulary: Container[str]) -> str | None:
    """The vocabulary's spelling of a word: lower case first, then as written, else `None`.

    Lower case first, because most vectors have no other, and because in those that do a
    capitalized common word ("Rates rose") is a name.
    """
    lower = word.lower()
    if lower in vocabulary:
        return lower
    return word if word in vocabulary else None


def is_eligible(token: Token, vocabulary: Container[str]) -> bool:
    """Whether a token may be replaced; everything else is protected and never changes.

    Alphabetic; no stop word, number-like word, punctuation, URL or e-mail address; outside
    every named entity; noun, verb, adjective or adverb; with a word vector.
    """
    return (
        token.is_alpha
        and token.pos_ in OPEN_CLASSES
        and not token.ent_type_
        and not token.is_stop
        and not token.like_num
        and not token.is_punct
        and not token.like_url
        and not token.like_email
        and vector_key(token.text, vocabulary) is not None
    )


def count_words(doc: Doc) -> int:
    """Word tokens of a document."""
    return sum(map(is_word, doc))
