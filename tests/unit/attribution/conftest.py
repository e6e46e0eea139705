"""Value functions with known answers, and tiny models that nothing has to download."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from monitor.attribution.segmentation import segment
from monitor.attribution.value import Outcome

Game = Callable[[NDArray[np.bool_]], NDArray[np.float64]]


class KnownGame:
    """An evaluator whose values are a given function of the masks; counts its own calls."""

    summary = "a summary"

    def __init__(self, game: Game, document: str) -> None:
        self.segmentation = segment(document)
        self.seen = 0
        self._game = game

    def evaluate(self, masks: NDArray[np.bool_]) -> list[Outcome]:
        self.seen += len(masks)
        return [Outcome(value=float(v), output=np.array([v])) for v in self._game(masks)]

    def separation(self, outcome: Outcome, full: Outcome) -> float:
        return float(min(abs(outcome.value - full.value) / 20, 1.0))


@pytest.fixture(scope="session")
def known_game() -> Callable[[Game, str], KnownGame]:
    return KnownGame


@pytest.fixture(scope="session")
def document_of() -> Callable[[int], str]:
    """A document of n words in sentences of twenty."""

    def make(words: int) -> str:
        return " ".join(
            f"{'W' if i % 20 == 0 else 'w'}{i}{'.' if i % 20 == 19 else ''}" for i in range(words)
        )

    return make
