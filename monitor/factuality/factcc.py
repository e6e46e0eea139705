"""FactCC: the probability that a classifier calls each summary sentence correct."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.factuality.blocks import blocks
from monitor.factuality.classifier import PairModel, label_index
from monitor.factuality.comparator import Splitter, missing, unusable
from monitor.factuality.summac import strongest
from monitor.records import FactualScore, Reason

LABELS = {
    "correct": {"correct", "consistent", "factual", "faithful", "supported"},
    "incorrect": {
        "incorrect",
        "inconsistent",
        "not factual",
        "unfaithful",
        "unsupported",
        "hallucinated",
    },
}


class FactCC:
    """Kryściński, McCann, Xiong & Socher (2020), with any classifier of that kind.

    The value is (1/M) Σ_j max_i P(correct | document block i, summary sentence j), in
    [0, 1]; higher is more faithful. A document that the model can read whole is one block;
    a longer one is cut between sentences into as few blocks as fit (the authors cut it off),
    and a sentence is correct if some block says so.

    Raises `ConfigurationError` for a model whose labels do not say which is which.
    """

    name = "factcc"

    def __init__(self, model: PairModel, split: Splitter, *, key: str = "factcc") -> None:
        self._model = model
        self._split = split
        self._correct = label_index(model.labels, LABELS, key=key)["correct"]

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[FactualScore]:
        """One score for each (document, summary); one batch of block pairs for each."""
        return [self._score(document, summary) for document, summary in pairs]

    def _score(self, document: str, summary: str) -> FactualScore:
        texts, claims = self._split([document, summary])
        refused = unusable(texts, claims)
        if refused:
            return refused
        longest = max(self._model.tokens(claim) for claim in claims)
        if 2 * longest > self._model.room:
            return missing(
                Reason.TOO_LONG,
                f"a summary sentence of {longest} tokens; the model reads {self._model.room}",
            )
        read = blocks(
            texts,
            tokens=self._model.tokens,
            room=self._model.room - longest,
            sentences_per_block=None,
        )
        probabilities = self._model.probabilities(
            [(block, claim) for claim in claims for block in read]
        )
        best = strongest(probabilities[:, self._correct].reshape(len(claims), len(read)))
        return FactualScore(value=float(np.mean(best)), reason=None, sentences=tuple(best.tolist()))
