"""FactCC: the probability that a classifier calls each summary sentence correct."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.factuality.comparator import Splitter
from monitor.factuality.pair_model import PairModel, label_index
from monitor.factuality.sentences import score_sentences
from monitor.records import FactualScore

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
        return score_sentences(
            self._model,
            self._split,
            document,
            summary,
            score=lambda found: found[:, self._correct],
            sentences_per_block=lambda _: None,
        )
