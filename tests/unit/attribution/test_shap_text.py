"""SHAP against answers that are known without it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from monitor.attribution.shap_text import ShapMethod
from monitor.attribution.value import BudgetedValue
from monitor.records import Granularity, Reason


def _interacting(masks: np.ndarray) -> np.ndarray:
    """Words help each other: no value of a word is its own."""
    weights = np.sin(np.arange(masks.shape[1]) + 1.0)
    linear = masks @ weights
    return np.tanh(linear) + masks[:, 0] * masks[:, -1] + 0.3 * linear**2


def test_exact_mode_agrees_with_shapley_values_over_all_orders(known_game: Any) -> None:
    """φᵢ is the mean gain of i over all n! orders: the definition itself, by brute force."""
    orders = list(permutations(range(5)))
    expected = np.zeros(5)
    for order in orders:
        mask = np.zeros((1, 5), dtype=bool)
        for word in order:
            before = _interacting(mask)[0]
            mask[0, word] = True
            expected[word] += (_interacting(mask)[0] - before) / len(orders)
    value = BudgetedValue(known_game(_interacting, "a b c d e"), budget=32)
    found = ShapMethod().explain(value, seed=1)
    assert found.values == pytest.approx(expected, abs=1e-6)
    assert found.evaluations == 32


def test_glove_game_by_hand(known_game: Any) -> None:
    """Two left gloves (a, b) and a right one (c): φ = 1/6, 1/6, 2/3."""

    def pairs(masks: np.ndarray) -> np.ndarray:
        return ((masks[:, 0] | masks[:, 1]) & masks[:, 2]).astype(float)

    found = ShapMethod().explain(BudgetedValue(known_game(pairs, "a b c"), budget=8), seed=0)
    assert found.values == pytest.approx([1 / 6, 1 / 6, 2 / 3], abs=1e-6)


def test_recovers_the_weights_of_a_linear_value(known_game: Any, document_of: Any) -> None:
    """Owen values of an additive game are its weights, whatever the tree."""
    weights = np.random.default_rng(5).normal(size=20)
    game = known_game(lambda masks: masks @ weights, document_of(20))
    found = ShapMethod().explain(BudgetedValue(game, budget=500), seed=3)
    assert np.corrcoef(found.values, weights)[0, 1] >= 0.99
    assert found.granularity is Granularity.WORD
    assert game.seen <= 500


@pytest.mark.parametrize(
    ("words", "budget"), [(6, 64), (20, 500), (40, 170), (300, 200), (300, 37)]
)
def test_values_sum_to_the_whole_gain(
    known_game: Any, document_of: Any, words: int, budget: int
) -> None:
    """Efficiency holds in every form, with the budget kept by the value function's count."""
    game = known_game(_interacting, document_of(words))
    whole = _interacting(np.array([[True] * words, [False] * words]))
    found = ShapMethod().explain(BudgetedValue(game, budget=budget), seed=2)
    assert found.values.sum() == pytest.approx(whole[0] - whole[1], abs=1e-6)
    assert found.evaluations == game.seen <= budget


def test_few_evaluations_find_the_sentences_of_the_heaviest_words(
    known_game: Any, document_of: Any
) -> None:
    """300 words, 1,000 evaluations: words get values of their own where it matters."""
    generator = np.random.default_rng(11)
    weights = generator.uniform(0, 0.05, size=300)
    heavy = generator.choice(300, size=10, replace=False)
    weights[heavy] += 1.0
    game = known_game(lambda masks: masks @ weights, document_of(300))
    found = ShapMethod().explain(BudgetedValue(game, budget=1000), seed=7)
    assert found.granularity is Granularity.SENTENCE_THEN_WORD
    assert set(np.argsort(-found.values)[:10] // 20) == set(heavy // 20)
    assert found.values == pytest.approx(weights, abs=1e-9)
    assert game.seen <= 1000


def test_words_of_a_sentence_share_what_they_do_together_by_hand(known_game: Any) -> None:
    """v = a·b (one sentence) + c (another): a and b gain 0 first and 1 last, so ½ each."""

    def both(masks: np.ndarray) -> np.ndarray:
        return 1.0 * (masks[:, 0] & masks[:, 1]) + masks[:, 20]

    document = "A b " + "x " * 17 + "x. C " + "y " * 18 + "y."
    found = ShapMethod().explain(BudgetedValue(known_game(both, document), budget=100), seed=0)
    assert found.granularity is Granularity.SENTENCE_THEN_WORD
    assert found.values[[0, 1, 20]] == pytest.approx([0.5, 0.5, 1.0])
    assert np.delete(found.values, [0, 1, 20]) == pytest.approx(np.zeros(37))


def test_short_budget_says_how_coarse_it_is(known_game: Any, document_of: Any) -> None:
    """With 15 sentences and 20 evaluations most words must share their sentence's value."""
    game = known_game(_interacting, document_of(300))
    found = ShapMethod().explain(BudgetedValue(game, budget=20), seed=0)
    assert found.granularity is not Granularity.WORD
    assert found.distinct_values < 40


def test_same_seed_gives_the_same_bits_and_leaves_the_global_generator(
    known_game: Any, document_of: Any
) -> None:
    """shap breaks ties by numpy's global generator, which belongs to nobody."""
    game = known_game(lambda masks: (masks.sum(axis=1) > 30).astype(float), document_of(60))
    state = np.random.get_state()[1].tobytes()
    first, second = (
        ShapMethod().explain(BudgetedValue(game, budget=100), seed=4).values for _ in range(2)
    )
    assert first.tobytes() == second.tobytes()
    assert np.random.get_state()[1].tobytes() == state


def test_another_seed_draws_another_tree(known_game: Any, document_of: Any) -> None:
    """Without that the noise floor would be 0 by construction."""
    game = known_game(_interacting, document_of(20))
    first, second = (
        ShapMethod().explain(BudgetedValue(game, budget=100), seed=seed).values for seed in (1, 2)
    )
    assert not np.allclose(first, second)


@pytest.mark.parametrize(("document", "values"), [("", None), ("…", None), ("word", [3.0])])
def test_no_and_one_word(known_game: Any, document: str, values: list[float] | None) -> None:
    """shap itself crashes on both."""
    game = known_game(lambda masks: 3.0 * masks.sum(axis=1), document)
    found = ShapMethod().explain(BudgetedValue(game, budget=16), seed=0)
    if values is None:
        assert (found.values, found.reason) == (None, Reason.EMPTY_DOCUMENT)
    else:
        assert found.values.tolist() == values


def test_one_evaluation_is_over_budget(known_game: Any) -> None:
    """v(all) and v(none) are the least that can be asked."""
    game = known_game(lambda masks: masks.sum(axis=1), "two words")
    found = ShapMethod().explain(BudgetedValue(game, budget=1), seed=0)
    assert (found.values, found.reason, game.seen) == (None, Reason.OVER_BUDGET, 0)
