"""The best that any part of a document says of each sentence of its summary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.factuality.blocks import blocks
from monitor.factuality.comparator import Splitter, missing, unusable
from monitor.factuality.pair_model import PairModel
from monitor.records import FactualScore, FloatArray, Reason


def score_sentences(
    model: PairModel,
    split: Splitter,
    document: str,
    summary: str,
    *,
    score: Callable[[FloatArray], FloatArray],
    sentences_per_block: Callable[[int], int | None],
) -> FactualScore:
    """(1/M) Σ_j max_i score(document block i, summary sentence j), with one batch of pairs.

    `score` makes one number of the class probabilities (pairs, classes) of each pair;
    `sentences_per_block` says, for a number of document sentences, how many make a block
    (`None`: as many as the model can read). A summary sentence that would leave less than half
    of the model's room to the document gives `too_long`.
    """
    premises, claims = split([document, summary])
    refused = unusable(premises, claims)
    if refused:
        return refused
    longest = max(model.tokens(claim) for claim in claims)
    if 2 * longest > model.room:
        return missing(
            Reason.TOO_LONG,
            f"a summary sentence of {longest} tokens; the model reads {model.room}",
        )
    read = blocks(
        premises,
        tokens=model.tokens,
        room=model.room - longest,
        sentences_per_block=sentences_per_block(len(premises)),
    )
    pairs = [(block, claim) for claim in claims for block in read]
    best = strongest(score(model.probabilities(pairs)).reshape(len(claims), len(read)))
    return FactualScore(value=float(np.mean(best)), reason=None, sentences=tuple(best.tolist()))


def strongest(scores: FloatArray) -> FloatArray:
    """max over document blocks of (summary sentences, document blocks), by summary sentence.

    >>> strongest(np.array([[0.1, 0.9], [-0.5, -0.2]])).tolist()
    [0.9, -0.2]
    """
    best: FloatArray = scores.max(axis=1)
    return best
