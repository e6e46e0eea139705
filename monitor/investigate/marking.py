"""Texts cut into stretches that are to be marked; what shows them escapes and colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from monitor.investigate.record_parts import Swap, Word
from monitor.records import UnsupportedFact

SHADES: Final = 4
"""Steps of colour: more would pretend to a precision that is not there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """A part of a text; the parts together are the text."""

    text: str
    shade: int = 0
    """−4 … 4: sign and share of the greatest |φ|; 0 is plain."""
    word: Word | None = None
    swap: Swap | None = None
    unsupported: UnsupportedFact | None = None


def shade(value: float, greatest: float) -> int:
    """Rounded to the nearest step, so that below an eighth of the greatest a word is plain.

    >>> [shade(value, 1.0) for value in (0.1, 0.2, -0.5, 1.0)]
    [0, 1, -2, 4]
    """
    if greatest == 0:
        return 0
    depth = round(SHADES * abs(value) / greatest)
    return depth if value > 0 else -depth


def coloured(document: str, words: Sequence[Word]) -> list[Stretch]:
    """The document with every word that has a shade, or is unstable, as a stretch of its own."""
    greatest = max((abs(word.value) for word in words), default=0.0)
    marks = (
        (
            word.start,
            word.end,
            Stretch(
                text=document[word.start : word.end], shade=shade(word.value, greatest), word=word
            ),
        )
        for word in words
    )
    return _cut(document, (m for m in marks if m[2].shade or (m[2].word and m[2].word.unstable)))


def with_swaps(document: str, swaps: Sequence[Swap]) -> list[Stretch]:
    """A reworded document with each replacement as a stretch of its own."""
    found = []
    for swap in swaps:
        if swap.start_in_version is not None and swap.replacement is not None:
            end = swap.start_in_version + len(swap.replacement)
            found.append((swap.start_in_version, end, Stretch(text=swap.replacement, swap=swap)))
    return _cut(document, found)


def with_facts(summary: str, unsupported: Sequence[UnsupportedFact]) -> list[Stretch]:
    """A summary with each name or number that the document does not hold apart."""
    found = []
    for fact in sorted(unsupported, key=lambda fact: fact.start):
        end = fact.start + len(fact.text)
        if fact.text and summary[fact.start : end] == fact.text:
            found.append((fact.start, end, Stretch(text=fact.text, unsupported=fact)))
    return _cut(summary, found)


def _cut(text: str, marks: Iterable[tuple[int, int, Stretch]]) -> list[Stretch]:
    """The text from end to end; a mark that overlaps the one before is left out."""
    position, found = 0, []
    for start, end, stretch in marks:
        if start < position or end > len(text):
            continue
        if start > position:
            found.append(Stretch(text=text[position:start]))
        found.append(stretch)
        position = end
    if position < len(text):
        found.append(Stretch(text=text[position:]))
    return found
