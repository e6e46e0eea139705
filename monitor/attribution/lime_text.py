"""LIME: a local linear surrogate over random word masks, by the lime library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lime.lime_text import LimeTextExplainer

from monitor.attribution.segmentation import BoolArray, spread
from monitor.attribution.value import ValueFunction
from monitor.records import Attribution, FloatArray, Granularity, Reason

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

    def explain(self, value: ValueFunction, *, seed: int) -> Attribution:
        """Uses at most `value.remaining` evaluations; raises what `value` raises."""
        cut = value.segmentation
        before, words = value.evaluations, len(cut.words)
        if words == 0:
            return Attribution(values=None, reason=Reason.EMPTY_DOCUMENT)
        if value.remaining < 2:
            return Attribution(values=None, reason=Reason.OVER_BUDGET)
        by_word = self.granularity is Granularity.WORD
        groups = np.arange(words) if by_word else cut.sentences
        values, fit = _surrogate(value, groups, seed=seed)
        return Attribution(
            values=spread(values, groups),
            granularity=self.granularity,
            evaluations=value.evaluations - before,
            fit=fit,
        )


def _surrogate(
    value: ValueFunction, groups: np.ndarray[tuple[int], np.dtype[np.int64]], *, seed: int
) -> tuple[FloatArray, float | None]:
    players = int(groups.max()) + 1
    if players == 1:
        none, whole = value(np.array([[False], [True]])[:, groups])
        return np.array([whole - none]), None

    def classify(texts: Sequence[str]) -> FloatArray:
        return value(_masks(texts)[:, groups]).reshape(-1, 1)

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
        num_samples=value.remaining,
    )
    values = np.zeros(players)
    for player, weight in explanation.local_exp[0]:
        values[player] = weight
    return values, float(explanation.score)


def _masks(texts: Sequence[str]) -> BoolArray:
    return np.array([[word != _MASKED for word in text.split(" ")] for text in texts], dtype=bool)
