"""SummaC zero-shot: is each summary sentence entailed by some sentence of the document?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from monitor.factuality.comparator import Splitter
from monitor.factuality.pair_model import PairModel, label_index
from monitor.factuality.sentences import score_sentences
from monitor.records import FactualScore

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
        return score_sentences(
            self._model,
            self._split,
            document,
            summary,
            score=lambda found: found[:, self._entailment] - found[:, self._contradiction],
            sentences_per_block=lambda sentences: math.ceil(sentences / self._max_blocks),
        )
