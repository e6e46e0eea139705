"""What a check has to beat: two figures that know nothing of facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_WORD = re.compile(r"\w+")


def novel_bigrams(document: str, summary: str) -> float | None:
    """Share of the summary's word bigrams that do not occur in the document, in [0, 1].

    Each occurrence counts; words are runs of letters and digits, without regard to case.
    `None` for a summary of fewer than two words, which has no bigram.

    >>> novel_bigrams("The cat sat down.", "the cat sat up")  # of 3, "sat up" is new
    0.3333333333333333
    """
    held = set(pairwise(_words(document)))
    own = list(pairwise(_words(summary)))
    return sum(pair not in held for pair in own) / len(own) if own else None


def length(summary: str) -> int:
    """Words of the summary."""
    return len(_words(summary))


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.casefold())
