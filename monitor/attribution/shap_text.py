"""SHAP: Owen values of words by the shap library, exact Shapley values of small games."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import comb

import numpy as np
import shap

from monitor.attribution.partition_tree import random_tree
from monitor.attribution.players import Game, game_of, only_player, refusal
from monitor.attribution.segmentation import BoolArray, spread
from monitor.attribution.value import BudgetedValue
from monitor.records import Attribution, FloatArray, Granularity

EVALUATIONS_PER_WORD = 4
"""Below this partition values are not per word: 200 evaluations on 300 words gave 15
distinct values (r = .26 with the truth)."""
EXACT_PLAYERS = 10
"""Up to so many players all subsets are taken, if the budget holds them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShapMethod:
    """φ sums to v(all) − v(none).

    Three forms, by what the budget B allows for n words:

    - 2ⁿ ≤ B and n ≤ `EXACT_PLAYERS`: exact Shapley values over all subsets;
    - B ≥ 4n: Owen values over a binary tree of neighbouring words;
    - else *sentence then word*: Owen values of the sentences with at most `sentence_share`
      of B, then, in the order of |φ| of the sentences and as far as B reaches, the words of a
      sentence: φ_w = mean of w's gain as the first and as the last word of its sentence (the
      two ends of the sum that a Shapley value averages) + an equal share of what these leave
      over of the sentence's value. Words of other sentences share their sentence's value.

    A binary tree inside the sentences was rejected: at 2 evaluations a word it fixes the
    context and hands interactions to whichever words it happened to join. On news texts
    with TextRank (300 words, 200 evaluations) two re-drawn trees then lay .23 apart, .18
    this way; the words' last gains alone agree less with the game of masked text (rank
    correlation .47 to .97 against .90 to .99).

    A budget that runs out inside a tree leaves a group's value shared equally in the group,
    which `distinct_values` shows. The seed draws the tree: another seed gives the noise
    floor. Exact values have none.
    """

    name: str = "shap"
    random: bool = True
    batch_size: int = 16
    """Masks evaluated together. A larger batch refines less greedily when B is short."""
    sentence_share: float = 0.75
    """Share of a short budget that the sentences may use."""

    def explain(self, value: BudgetedValue, *, seed: int) -> Attribution:
        """Uses at most `value.remaining` evaluations; raises what `value` raises.

        With less than 2 evaluations nothing can be said: `over_budget`.
        """
        if (refused := refusal(value)) is not None:
            return refused
        before, words = value.evaluations, len(value.segmentation.words)
        granularity = Granularity.WORD
        if _exact(words, value.remaining) or value.remaining >= EVALUATIONS_PER_WORD * words:
            values = self._values(value, words, budget=value.remaining, seed=seed)
        else:
            values, granularity = self._sentences_then_words(value, seed=seed)
        return Attribution(
            values=values, granularity=granularity, evaluations=value.evaluations - before
        )

    def _sentences_then_words(
        self, value: BudgetedValue, *, seed: int
    ) -> tuple[FloatArray, Granularity]:
        groups = value.segmentation.sentences
        count = int(groups.max()) + 1
        sentence_values = self._values(
            game_of(value, groups),
            count,
            budget=max(int(value.remaining * self.sentence_share), 2),
            seed=seed,
        )
        values = spread(sentence_values, groups)
        granularity = Granularity.SENTENCE
        for sentence in np.argsort(-np.abs(sentence_values), kind="stable").tolist():
            members = np.flatnonzero(groups == sentence)
            affordable = 2 * len(members) + 1 <= value.remaining
            if sentence_values[sentence] == 0.0 or len(members) == 1 or not affordable:
                continue
            gains = _gains(value, members)
            rest = (sentence_values[sentence] - gains.sum()) / len(members)
            values[members] = gains + rest
            granularity = Granularity.SENTENCE_THEN_WORD
        return values, granularity

    def _values(self, game: Game, players: int, *, budget: int, seed: int) -> FloatArray:
        if players == 1:
            # shap's partition tree needs two leaves.
            return only_player(game)
        if _exact(players, budget):
            return _exact_values(game, players)
        tree = random_tree(players, np.random.default_rng(seed))
        explainer = shap.Explainer(game, PlayerMasker(players, tree), algorithm="partition")
        with _seeded(seed):
            explanation = explainer(
                np.ones((1, players), dtype=bool),
                # Splits cost two masks: an odd limit would be overrun by one.
                max_evals=budget - budget % 2,
                batch_size=self.batch_size,
                fixed_context=None,
                silent=True,
            )
        return np.asarray(explanation.values[0], dtype=np.float64)


def _gains(value: BudgetedValue, members: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
    """Mean of each word's gain as the first and as the last of its sentence to be kept, all
    other sentences kept: 2 evaluations a word and one for the empty sentence."""
    count = len(members)
    last = np.ones((count, len(value.segmentation.words)), dtype=bool)
    last[np.arange(count), members] = False
    first = np.ones_like(last)
    first[:, members] = False
    ends = np.array([np.ones_like(last[0]), first[0]])
    first[np.arange(count), members] = True
    worth = value(np.concatenate([ends, last, first]))
    as_last, as_first = worth[0] - worth[2 : 2 + count], worth[2 + count :] - worth[1]
    return np.asarray((as_last + as_first) / 2, dtype=np.float64)


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
