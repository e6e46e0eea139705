"""The words and sentences that attributions are about, and how words are masked in text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

PLACEHOLDER = "…"
"""Stands for one masked word in text; a word of its own would be summarized with the rest."""

# Chinese and Japanese write no spaces: there each character is a word, for otherwise a
# sentence would be one word and nothing inside it could be attributed.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTER = rf"(?:(?![{_UNSPACED}])\w)"
_WORD = re.compile(rf"[{_UNSPACED}]|{_LETTER}+(?:[-'’]{_LETTER}+)*")
_STOP = re.compile(r"[.!?…][\"'”’»)\]]*\s|[。！？]|\n\s*\n")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Segmentation:
    """A document cut into words and sentences.

    Words are joined by inner hyphens and apostrophes, so that the substitution of one word
    by another keeps the number of words and the position of each.
    """

    document: str
    words: tuple[str, ...]
    starts: IntArray
    """(words,): code-point offset of each word."""
    ends: IntArray
    """(words,): code-point offset behind each word."""
    sentences: IntArray
    """(words,): number of the sentence of each word, 0, 1, 2 … without gaps."""

    def render(self, mask: BoolArray, *, placeholder: str = PLACEHOLDER) -> str:
        """The document with a placeholder for every word whose mask is False.

        One placeholder a word: positions are kept. shap's and gSMILE's own maskers join
        neighbouring placeholders or drop the words, and so lose them.

        >>> segment("Rates rose again.").render(np.array([True, False, True]), placeholder="_")
        'Rates _ again.'
        """
        parts = []
        position = 0
        for start, end, kept in zip(self.starts, self.ends, mask, strict=True):
            parts.append(self.document[position:start])
            parts.append(self.document[start:end] if kept else placeholder)
            position = int(end)
        parts.append(self.document[position:])
        return "".join(parts)


def segment(document: str, *, sentence_starts: Sequence[int] | None = None) -> Segmentation:
    """Cut a document into words and sentences.

    `sentence_starts` are ascending code-point offsets from a parser; without them sentences
    end at a stop before a capital or an unspaced script, or at a blank line. Abbreviations
    fool that rule now and then, which costs nothing but a shorter group of words.

    >>> cut = segment("Rates rose. The bank didn't say why.")
    >>> cut.words[-3:], cut.sentences.tolist()
    (("didn't", 'say', 'why'), [0, 0, 1, 1, 1, 1, 1])
    """
    # Vowel signs of Indic scripts are marks, which \w does not take: hide them as letters.
    letters = "".join("a" if unicodedata.category(c)[0] == "M" else c for c in document)
    spans = [match.span() for match in _WORD.finditer(letters)]
    starts = np.array([start for start, _ in spans], dtype=np.int64)
    ends = np.array([end for _, end in spans], dtype=np.int64)
    if sentence_starts is None:
        sentences = _sentences_by_stops(document, spans)
    else:
        sentences = np.searchsorted(np.asarray(sentence_starts, dtype=np.int64), starts, "right")
    if len(spans):
        # A parser's sentence may hold no word at all: number again without gaps.
        sentences = np.unique(sentences, return_inverse=True)[1].astype(np.int64)
    return Segmentation(
        document=document,
        words=tuple(document[start:end] for start, end in spans),
        starts=starts,
        ends=ends,
        sentences=sentences,
    )


def spread(values: NDArray[np.float64], groups: IntArray) -> NDArray[np.float64]:
    """Share each group's value equally among its words: (groups,) → (words,), same sum.

    >>> spread(np.array([1.0, 3.0]), np.array([0, 0, 1])).tolist()
    [0.5, 0.5, 3.0]
    """
    sizes = np.bincount(groups, minlength=len(values))
    return np.asarray((values / np.maximum(sizes, 1))[groups], dtype=np.float64)


def _sentences_by_stops(document: str, spans: Sequence[tuple[int, int]]) -> IntArray:
    numbers = np.zeros(len(spans), dtype=np.int64)
    for i in range(1, len(spans)):
        (before_start, before_end), (start, _) = spans[i - 1], spans[i]
        stops = _STOP.search(document[before_end:start]) is not None
        # "U.S. economy" and "approx. five" do not end a sentence.
        initial = before_end - before_start == 1 and document[before_start].isupper()
        numbers[i] = numbers[i - 1] + (stops and not initial and not document[start].islower())
    return numbers
