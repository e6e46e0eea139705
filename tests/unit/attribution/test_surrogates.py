"""LIME and SMILE: linear truths are recovered, seeds are kept, budgets are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from monitor.attribution.lime_text import LimeMethod
from monitor.attribution.smile import SmileMethod, random_masks, weighted_ridge
from monitor.attribution.value import BudgetedValue
from monitor.records import Granularity, Reason

METHODS = [LimeMethod(), SmileMethod()]
each_method = pytest.mark.parametrize("method", METHODS, ids=["lime", "smile"])


@each_method
@pytest.mark.parametrize(("words", "budget"), [(20, 500), (300, 1000)])
def test_recovers_the_weights_of_a_linear_value(
    known_game: Any, document_of: Any, method: Any, words: int, budget: int
) -> None:
    """A linear surrogate must find a linear truth."""
    weights = np.random.default_rng(words).normal(size=words)
    game = known_game(lambda masks: masks @ weights, document_of(words))
    found = method.explain(BudgetedValue(game, budget=budget), seed=9)
    assert np.corrcoef(found.values, weights)[0, 1] >= 0.95
    assert found.evaluations == game.seen <= budget
    assert found.fit > 0.95


@each_method
def test_same_seed_gives_the_same_bits(known_game: Any, document_of: Any, method: Any) -> None:
    """One lime explainer called twice differs, so each call must make its own."""
    game = known_game(lambda masks: np.cos(masks @ np.arange(40.0)), document_of(40))
    first, second, other = (
        method.explain(BudgetedValue(game, budget=100), seed=seed).values for seed in (1, 1, 2)
    )
    assert first.tobytes() == second.tobytes()
    assert not np.allclose(first, other)


@each_method
def test_repeated_words_have_values_of_their_own(known_game: Any, method: Any) -> None:
    """Words are positions: the first `rose` matters here, the others do not."""
    game = known_game(lambda masks: 1.0 * masks[:, 0], "rose rose rose rose rose rose")
    found = method.explain(BudgetedValue(game, budget=60), seed=0)
    assert found.values[0] > 0.5
    assert np.abs(found.values[1:]).max() < 0.1


@each_method
@pytest.mark.parametrize(
    ("document", "budget", "reason"),
    [("", 16, Reason.EMPTY_DOCUMENT), ("two words", 1, Reason.OVER_BUDGET)],
)
def test_nothing_to_explain_is_a_reason(
    known_game: Any, method: Any, document: str, budget: int, reason: Reason
) -> None:
    """lime raises on an empty text."""
    game = known_game(lambda masks: masks.sum(axis=1), document)
    found = method.explain(BudgetedValue(game, budget=budget), seed=0)
    assert (found.values, found.reason) == (None, reason)


@each_method
@pytest.mark.parametrize("document", ["word", "two words", "just three words"])
def test_tiny_documents_have_values(known_game: Any, method: Any, document: str) -> None:
    """So few masks exist that the sample is the whole game. (lime's fixed α = 1 shrinks
    coefficients much there, so only their sign and order can be asked for.)"""
    game = known_game(lambda masks: 2.0 * masks.sum(axis=1), document)
    found = method.explain(BudgetedValue(game, budget=50), seed=0)
    assert np.all(found.values > 0.1)
    assert game.seen <= 2 ** len(found.values)


@each_method
def test_sentence_granularity_shares_a_value_in_each_sentence(
    known_game: Any, document_of: Any, method: Any
) -> None:
    """Players are sentences there, three of them."""
    coarse = type(method)(granularity=Granularity.SENTENCE)
    game = known_game(lambda masks: masks[:, :20].sum(axis=1) / 20, document_of(60))
    found = coarse.explain(BudgetedValue(game, budget=60), seed=0)
    assert found.distinct_values <= 3
    assert found.values[:20].sum() == pytest.approx(1.0, abs=0.3)
    assert found.values[20:].sum() == pytest.approx(0.0, abs=0.2)


def test_weighted_ridge_equals_scikit_learn() -> None:
    """Both forms (more masks than words, fewer) against an independent solver."""
    generator = np.random.default_rng(2)
    for samples, players in ((50, 8), (8, 50)):
        masks = generator.random((samples, players)) < 0.5
        responses, weights = generator.normal(size=samples), generator.uniform(0.1, 1, samples)
        found, fit = weighted_ridge(masks, responses, weights, penalty=0.5)
        model = Ridge(alpha=0.5 * weights.mean()).fit(masks, responses, sample_weight=weights)
        assert found == pytest.approx(model.coef_, abs=1e-9)
        assert fit == pytest.approx(model.score(masks, responses, sample_weight=weights))


def test_constant_response_has_no_fit() -> None:
    """R² divides by the variance: it is unknown, not 1 or NaN."""
    masks = np.array([[True, False], [False, True], [True, True]])
    values, fit = weighted_ridge(masks, np.full(3, 0.7), np.ones(3), penalty=0.01)
    assert (values.tolist(), fit) == ([0.0, 0.0], None)


@pytest.mark.parametrize("players", [2, 3, 5, 12, 40])
def test_masks_are_distinct_and_keep_at_least_two_words(players: int) -> None:
    """A repeated mask would be paid once and weigh twice."""
    masks = random_masks(players, 100, np.random.default_rng(0))
    assert len(np.unique(masks, axis=0)) == len(masks) <= 100
    assert masks[0].all()
    assert masks.sum(axis=1).min() >= min(2, players - 1)
