"""Parsing a document of any length into sentences and replaceable positions."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from monitor.perturbation.candidates import Word
from monitor.perturbation.composition import Sentence, sentence_of
from monitor.perturbation.eligibility import count_words, is_eligible, vector_key

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST = 100
"""Tokens of a sentence."""
_PIECE = 50_000
"""Code points parsed at once: memory of the parser grows with it; most documents are one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Occurrence:
    """An eligible token where it stands."""

    word: Word
    text: str
    index: int
    start: int
    sentence: int
    offset: int
    chunk: int
    article: str
    """The token before, lower case, where it is *a* or *an*; else empty."""
    titled: bool
    """Capitalized inside its sentence: part of a title or a name that was not recognized."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What perturbation needs to know about a document."""

    words: int
    sentences: tuple[Sentence, ...]
    eligible: tuple[Occurrence, ...]


def read(document: str, *, language: Language, vocabulary: Container[str]) -> Reading:
    """Parse a document; linear in its length, in pieces that end at white space."""
    words = index = chunk = 0
    sentences: list[Sentence] = []
    eligible: list[Occurrence] = []
    # A lone surrogate has no UTF-8 form; one character stands for it, so offsets hold.
    pieces = list(_pieces(_SURROGATE.sub("\ufffd", document)))
    for (start, _), doc in zip(pieces, language.pipe(p for _, p in pieces), strict=True):
        words += count_words(doc)
        for span in _spans(doc):
            tokens = list(span)
            first = index
            for offset, token in enumerate(tokens):
                if is_eligible(token, vocabulary):
                    eligible.append(
                        Occurrence(
                            word=_word(token, vocabulary),
                            text=token.text,
                            index=index,
                            start=start + token.idx,
                            sentence=len(sentences),
                            offset=offset,
                            chunk=chunk,
                            article=_article(doc, token),
                            titled=token.is_title and offset > _opening(tokens),
                        )
                    )
                index += not token.is_space
                chunk += bool(token.whitespace_) or token.is_space
            sentences.append(sentence_of(span, first))
        chunk += 1
    return Reading(words=words, sentences=tuple(sentences), eligible=tuple(eligible))


def _spans(doc: Doc) -> Iterator[Span]:
    """Sentences; a list or a table without stops is cut into stretches of bounded length.

    Each replacement is tried in its whole sentence, so without a bound on its length the
    cost would grow with the square of it.
    """
    for sentence in doc.sents:
        start = sentence.start
        while sentence.end - start > _LONGEST:
            middle = range(start + _LONGEST, start + _LONGEST // 2, -1)
            end = next((i for i in middle if doc[i - 1].is_punct), start + _LONGEST)
            yield doc[start:end]
            start = end
        yield doc[start : sentence.end]


def _word(token: Token, vocabulary: Container[str]) -> Word:
    key = vector_key(token.text, vocabulary) or token.lower_
    return Word(key=key, tag=token.tag_, part=token.pos_, lemma=token.lemma_.lower())


def _opening(tokens: Sequence[Token]) -> int:
    """Offset of the first word of a sentence, behind quotes and bullets."""
    return next((offset for offset, token in enumerate(tokens) if token.is_alpha), 0)


def _article(doc: Doc, token: Token) -> str:
    before = doc[token.i - 1].lower_ if token.i else ""
    return before if before in {"a", "an"} else ""


def _pieces(document: str) -> Iterator[tuple[int, str]]:
    """(start, text) of pieces that together are the document."""
    start = 0
    while len(document) - start > _PIECE:
        end = start + _PIECE
        # At a line break where there is one, so that sentences stay whole; else at a space.
        cut = max(document.rfind("\n", start, end), document.rfind(". ", start, end) + 1)
        if cut <= start:
            cut = document.rfind(" ", start, end)
        end = cut + 1 if cut > start else end
        yield start, document[start:end]
        start = end
    yield start, document[start:]
