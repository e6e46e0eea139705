"""SummaC zero-shot: is each summary sentence entailed by some sentence of the document?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from monitor.factuality.blocks import blocks
from monitor.factuality.classifier import PairModel, label_index
from monitor.factuality.comparator import Splitter, missing, unusable
from monitor.records import FactualScore, FloatArray, Reason

LABELS = {
    "entailment": {"entailment", "entail", "entails", "entailed"},
    "contradiction": {"contradiction", "contradict", "contradicts", "contradictory"},
}


class SummacZeroShot:
    """Laban, Schnabel, Bennett & Hearst (2022), with any natural-language-inference model.

    With s_ij = P(entailment) − P(contradiction) for document block i as premise and summary
    sentence j as hypothesis, the value is (1/M) Σ_j max_i s_ij, in [−1, 1]; higher is more
    faithful. The maximum is taken of the difference, where the authors' code subtracts two
    maxima; a sentence that one block entails and another contradicts so keeps its
    support. Blocks are single sentences, and runs of ⌈N / `max_blocks`⌉ sentences
    where the document has more than `max_blocks`, so that cost stays bounded. Nothing is
    cut: a sentence beyond the model's limit becomes several blocks.

    Raises `ConfigurationError` for a model whose labels do not say which is which.
    """

    name = "summac"

    def __init__(
        self, model: PairModel, split: Splitter, *, max_blocks: int = 100, key: str = "summac"
    ) -> None:
        self._model = model
        self._split = split
        self._max_blocks = max_blocks
        order = label_index(model.labels, LABELS, key=key)
        self._entailment = order["entailment"]
        self._contradiction = order["contradiction"]

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[FactualScore]:
        """One score for each (document, summary); one batch of sentence pairs for each."""
        return [self._score(document, summary) for document, summary in pairs]

    def _score(self, document: str, summary: str) -> FactualScore:
        premises, hypotheses = self._split([document, summary])
        refused = unusable(premises, hypotheses)
        if refused:
            return refused
        longest = max(self._model.tokens(hypothesis) for hypothesis in hypotheses)
        if 2 * longest > self._model.room:
            return missing(
                Reason.TOO_LONG,
                f"a summary sentence of {longest} tokens; the model reads {self._model.room}",
            )
        read = blocks(
            premises,
            tokens=self._model.tokens,
            room=self._model.room - longest,
            sentences_per_block=math.ceil(len(premises) / self._max_blocks),
        )
        probabilities = self._model.probabilities(
            [(premise, hypothesis) for hypothesis in hypotheses for premise in read]
        )
        scores = probabilities[:, self._entailment] - probabilities[:, self._contradiction]
        best = strongest(scores.reshape(len(hypotheses), len(read)))
        return FactualScore(value=float(np.mean(best)), reason=None, sentences=tuple(best.tolist()))


def strongest(scores: FloatArray) -> FloatArray:
    """max over document blocks of (summary sentences, document blocks), by summary sentence.

    >>> strongest(np.array([[0.1, 0.9], [-0.5, -0.2]])).tolist()
    [0.9, -0.2]
    """
    best: FloatArray = scores.max(axis=1)
    return best
