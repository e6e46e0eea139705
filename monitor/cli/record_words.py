"""Words and facts of a record in a line, or their places where texts are not kept."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.investigate.noise_floor import above_floor
from monitor.investigate.record_parts import MethodFacts, Word
from monitor.records import Substitution, UnsupportedFact
from monitor.storage.detail_parts import StoredSubstitution

WORDS = 8
"""Unstable words that are named, the least stable first."""
SWAPS = 6
"""Replacements that are named."""


def unstable(method: MethodFacts) -> list[Word]:
    """The words whose attribution changes most under rewording, the least stable first."""
    marked = [word for word in method.words if word.unstable]
    return sorted(marked, key=lambda word: -(word.instability or 0.0))[:WORDS]


def unstable_words(method: MethodFacts) -> str | None:
    """The same in a line; `None` without any, and where they say nothing: at the noise floor."""
    words = unstable(method) if above_floor(method) else []
    return ", ".join(word.text or f"at {word.start}–{word.end}" for word in words) or None


def unsupported_of(facts: Sequence[UnsupportedFact]) -> str | None:
    """What the summary names and the document does not hold, each once; `None` where it holds all.

    >>> unsupported_of([UnsupportedFact(kind="number", text="", start=4)])
    'at 4 (number)'
    """
    named = (f"{fact.text or f'at {fact.start}'} ({fact.kind})" for fact in facts)
    return ", ".join(dict.fromkeys(named)) or None


def swaps_of(swaps: Sequence[Substitution | StoredSubstitution], *, most: int = SWAPS) -> str:
    """What was replaced by what; an ellipsis where there is more.

    >>> swap = Substitution(index=0, original="rain", replacement="snow", similarity=1, start=0)
    >>> swaps_of([swap]), swaps_of([swap, swap], most=1)
    ('rain→snow', 'rain→snow, …')
    """
    named = [f"{swap.original}→{swap.replacement}" for swap in swaps[:most]]
    return ", ".join([*named, "…"] if len(swaps) > most else named)
