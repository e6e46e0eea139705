"""Cutting a long document into blocks that a model can read whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def blocks(
    sentences: Sequence[str],
    *,
    tokens: Callable[[str], int],
    room: int,
    sentences_per_block: int | None,
) -> list[str]:
    """Consecutive sentences joined to blocks of at most `room` tokens.

    A block takes up to `sentences_per_block` sentences (`None`: as many as fit). A sentence
    that is longer than `room` is cut between words, so that nothing is left out; its pieces
    are blocks of their own. Order is kept.

    >>> blocks(["a b", "c", "d e f"], tokens=lambda s: len(s.split()), room=3,
    ...        sentences_per_block=None)
    ['a b c', 'd e f']
    """
    most = len(sentences) if sentences_per_block is None else sentences_per_block
    made: list[str] = []
    current: list[str] = []
    for sentence in sentences:
        # Counted on the joined text: lengths of pieces need not add up in every tokenizer.
        if current and (len(current) >= most or tokens(" ".join([*current, sentence])) > room):
            made.append(" ".join(current))
            current = []
        if tokens(sentence) > room:
            made += _cut(sentence, tokens, room)
        else:
            current.append(sentence)
    if current:
        made.append(" ".join(current))
    return made


def _cut(sentence: str, tokens: Callable[[str], int], room: int) -> list[str]:
    """Halve until a piece fits; a single word that does not fit is halved by letters."""
    if tokens(sentence) <= room or len(sentence) < 2:
        return [sentence]
    words = sentence.split()
    if len(words) > 1:
        half = math.ceil(len(words) / 2)
        parts = [" ".join(words[:half]), " ".join(words[half:])]
    else:
        half = math.ceil(len(sentence) / 2)
        parts = [sentence[:half], sentence[half:]]
    return [piece for part in parts for piece in _cut(part, tokens, room)]
