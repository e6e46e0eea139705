"""Words and facts of a record in a line, or their places where texts are not kept."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.investigate.record_parts import MethodFacts, Word
from monitor.records import UnsupportedFact

WORDS = 8
"""Unstable words that are named, the least stable first."""


def unstable(method: MethodFacts) -> list[Word]:
    """The words whose attribution changes most under rewording, the least stable first."""
    marked = [word for word in method.words if word.unstable]
    return sorted(marked, key=lambda word: -(word.instability or 0.0))[:WORDS]


def words_of(words: Sequence[Word]) -> str | None:
    """The words, one behind the other; `None` without any."""
    return ", ".join(word.text or f"at {word.start}–{word.end}" for word in words) or None


def unsupported_of(facts: Sequence[UnsupportedFact]) -> str | None:
    """What the summary names and the document does not hold; `None` where it holds all.

    >>> unsupported_of([UnsupportedFact(kind="number", text="", start=4)])
    'at 4 (number)'
    """
    return ", ".join(f"{fact.text or f'at {fact.start}'} ({fact.kind})" for fact in facts) or None
