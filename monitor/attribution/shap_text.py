"""SHAP: Owen values of words by the shap library, exact Shapley values of small games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import comb

import numpy as np
import shap

from monitor.attribution.partition_tree import random_tree
from monitor.attribution.results import Attribution, Granularity
from monitor.attribution.segmentation import BoolArray, spread
from monitor.attribution.value import ValueFunction
from monitor.records import FloatArray, Reason

EVALUATIONS_PER_WORD = 4
"""Below this partition values are not per word: 200 evaluations on 300 words gave 15
distinct values (r = .26 with the truth)."""
EXACT_PLAYERS = 10
"""Up to so many players all subsets are taken, if the budget holds them."""

Game = Callable[[BoolArray], FloatArray]


@dataclass(frozen=True, kw_only=True, slots=True)
class ShapMethod:
    """φ sums to v(all) − v(none).

    Three forms, by what the budget B allows for n words:

    - 2ⁿ ≤ B and n ≤ `EXACT_PLAYERS`: exact Shapley values over all subsets;
    - B ≥ 4n: Owen values over a random binary tree of neighbouring words;
    - else *sentence then word*: Owen values of the sentences with at most half of B, then,
      in the order of |φ| of the sentences, the words inside a sentence with all others kept,
      until B is used up. Words of other sentences share their sentence's value equally; what
      the inner game leaves over of the sentence's value is shared equally as well.

    A budget that runs out inside a tree leaves a group's value shared equally in the group,
    which `distinct_values` shows. The seed draws the tree: another seed gives the noise
    floor. Exact values have none.
    """

    name: str = "shap"
    random: bool = True
    batch_size: int = 16
    """Masks evaluated together. A larger batch refines less greedily when B is short."""
    sentence_share: float = 0.5

    def explain(self, value: ValueFunction, *, seed: int) -> Attribution:
        """Uses at most `value.remaining` evaluations; raises what `value` raises.

        With less than 2 evaluations nothing can be said: `over_budget`.
        """
        cut = value.segmentation
        before, words = value.evaluations, len(cut.words)
        if words == 0:
            return Attribution(values=None, reason=Reason.EMPTY_DOCUMENT)
        if value.remaining < 2:
            return Attribution(values=None, reason=Reason.OVER_BUDGET)
        granularity = Granularity.WORD
        if _exact(words, value.remaining) or value.remaining >= EVALUATIONS_PER_WORD * words:
            values = self._values(value, words, budget=value.remaining, seed=seed)
        else:
            values, granularity = self._sentences_then_words(value, seed=seed)
        return Attribution(
            values=values, granularity=granularity, evaluations=value.evaluations - before
        )

    def _sentences_then_words(
        self, value: ValueFunction, *, seed: int
    ) -> tuple[FloatArray, Granularity]:
        groups = value.segmentation.sentences
        count = int(groups.max()) + 1
        sentence_values = self._values(
            lambda masks: value(masks[:, groups]),
            count,
            budget=max(int(value.remaining * self.sentence_share), 2),
            seed=seed,
        )
        values = spread(sentence_values, groups)
        granularity = Granularity.SENTENCE
        for sentence in np.argsort(-np.abs(sentence_values), kind="stable").tolist():
            members = np.flatnonzero(groups == sentence)
            # One mask without the sentence, then two for each split.
            if sentence_values[sentence] == 0.0 or len(members) == 1 or value.remaining < 3:
                continue
            inner = self._inner_values(value, members, seed=seed + 1 + sentence)
            rest = (sentence_values[sentence] - inner.sum()) / len(members)
            values[members] = inner + rest
            granularity = Granularity.SENTENCE_THEN_WORD
        return values, granularity

    def _inner_values(
        self,
        value: ValueFunction,
        members: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        seed: int,
    ) -> FloatArray:
        """Owen values of one sentence's words in the full context, 2 evaluations a split."""
        words = len(value.segmentation.words)

        def game(masks: BoolArray) -> FloatArray:
            full = np.ones((len(masks), words), dtype=bool)
            full[:, members] = masks
            return value(full)

        # v(all) is known by now, so it does not count again.
        budget = value.remaining + 1
        return self._values(game, len(members), budget=budget, seed=seed, fixed_context=1)

    def _values(
        self, game: Game, players: int, *, budget: int, seed: int, fixed_context: int | None = None
    ) -> FloatArray:
        if players == 1:
            # shap's partition tree needs two leaves.
            none, whole = game(np.array([[False], [True]]))
            return np.array([whole - none])
        if fixed_context is None and _exact(players, budget):
            return _exact_values(game, players)
        tree = random_tree(players, np.random.default_rng(seed))
        explainer = shap.Explainer(game, PlayerMasker(players, tree), algorithm="partition")
        with _seeded(seed):
            explanation = explainer(
                np.ones((1, players), dtype=bool),
                # Splits cost two masks: an odd limit would be overrun by one.
                max_evals=budget - budget % 2,
                batch_size=self.batch_size,
                fixed_context=fixed_context,
                silent=True,
            )
        return np.asarray(explanation.values[0], dtype=np.float64)


class PlayerMasker:
    """Hands shap's coalitions to the value function as they are.

    shap's own `maskers.Text` renders text, which a value function would have to undo; it
    also crashes on empty and on one-token texts, and joins neighbouring masked words.
    """

    immutable_outputs = True

    def __init__(self, players: int, clustering: FloatArray) -> None:
        self.shape = (1, players)
        self.clustering = clustering

    def __call__(self, mask: BoolArray, _x: object) -> tuple[BoolArray]:
        return (np.array([mask], dtype=bool),)


def _exact(players: int, budget: int) -> bool:
    return players <= EXACT_PLAYERS and 2**players <= budget


def _exact_values(game: Game, players: int) -> FloatArray:
    """Shapley values over all 2ⁿ coalitions:

        φᵢ = Σ_{S ∌ i} |S|! (n − |S| − 1)!/n! · (v(S ∪ {i}) − v(S))

    Summed here, because shap's exact explainer compiles its loop anew in every process,
    seconds for what numpy does in a millisecond; the two agree (see the tests).
    """
    coalitions = np.arange(2**players)
    members = ((coalitions[:, None] >> np.arange(players)) & 1).astype(bool)
    worth = game(members)
    weights = np.array([1 / (players * comb(players - 1, size)) for size in range(players)])
    weight = np.append(weights, 0.0)[members.sum(axis=1)]
    values = np.zeros(players)
    for player in range(players):
        without = coalitions[~members[:, player]]
        gain = worth[without | (1 << player)] - worth[without]
        values[player] = weight[without] @ gain
    return values


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """shap breaks ties in its queue by numpy's global generator: seed it and put it back."""
    state = np.random.get_state()
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        np.random.set_state(state)
