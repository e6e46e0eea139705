"""LIME: a local linear surrogate over random word masks, by the lime library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lime.lime_text import LimeTextExplainer

from monitor.attribution.players import Game, by_surrogate, game_of
from monitor.attribution.segmentation import BoolArray
from monitor.attribution.value import BudgetedValue
from monitor.records import Attribution, FloatArray, Granularity

_MASKED = "_"


@dataclass(frozen=True, kw_only=True, slots=True)
class LimeMethod:
    """φ = coefficients of a ridge regression (α = 1) of v on the masks (Ribeiro et al. 2016).

    lime's own settings: a mask drops a uniform number of words; its weight is
    √exp(−d²/25²), d = 100·(1 − cosine with the full mask). Word positions are told apart
    (`bow=False`) and no feature is left out. An explainer keeps a random state, so that the
    same one called twice differs: each call makes a fresh one with its own seed, and equal
    seeds give equal bits.

    The words handed to lime are stand-ins (w0 w1 …): it then cannot split the document in
    its own way, and masks come back from its texts without loss.
    """

    name: str = "lime"
    random: bool = True
    granularity: Granularity = Granularity.WORD
    """`WORD` or `SENTENCE`."""

    def explain(self, value: BudgetedValue, *, seed: int) -> Attribution:
        """Uses at most `value.remaining` evaluations; raises what `value` raises."""
        return by_surrogate(
            value,
            self.granularity,
            lambda players: _surrogate(
                game_of(value, players), int(players.max()) + 1, samples=value.remaining, seed=seed
            ),
        )


def _surrogate(game: Game, players: int, *, samples: int, seed: int) -> tuple[FloatArray, float]:
    """Coefficients (players,) and the weighted R² of lime's own fit."""

    def classify(texts: Sequence[str]) -> FloatArray:
        return game(_masks(texts)).reshape(-1, 1)

    explainer = LimeTextExplainer(
        bow=False,
        feature_selection="none",
        split_expression=r"\s+",
        mask_string=_MASKED,
        random_state=seed % 2**32,
    )
    explanation = explainer.explain_instance(
        " ".join(f"w{i}" for i in range(players)),
        classify,
        labels=(0,),
        num_features=players,
        num_samples=samples,
    )
    values = np.zeros(players)
    for player, weight in explanation.local_exp[0]:
        values[player] = weight
    return values, float(explanation.score)


def _masks(texts: Sequence[str]) -> BoolArray:
    return np.array([[word != _MASKED for word in text.split(" ")] for text in texts], dtype=bool)
