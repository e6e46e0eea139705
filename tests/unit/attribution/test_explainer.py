"""A document and its versions: instability, noise floor, budgets, reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from monitor.attribution.attention import AttentionMethod
from monitor.attribution.explainer import DocumentExplainer
from monitor.attribution.lime_text import LimeMethod
from monitor.attribution.shap_text import ShapMethod
from monitor.attribution.smile import SmileMethod
from monitor.attribution.value import ValueUnknown
from monitor.records import Reason

WORDS = "one two three four five six seven eight"
METHODS = (
    ShapMethod(),
    LimeMethod(),
    SmileMethod(),
    AttentionMethod(model=None, tokenizer=None),
)


@pytest.fixture
def linear(known_game: Any) -> Any:
    return lambda weights, document=WORDS: known_game(
        lambda masks: masks @ np.asarray(weights, dtype=float), document
    )


def test_same_model_on_every_version_is_stable(linear: Any) -> None:
    """Nothing changed: what is left is at most the noise floor's size."""
    weights = [1, -2, 3, 0, 0, 1, 0, 2]
    results = DocumentExplainer(METHODS[:3]).explain(linear(weights), [linear(weights)] * 2, seed=1)
    for result in results:
        assert result.instability == pytest.approx(0.0, abs=1e-9)
        assert result.noise_floor is not None
        assert result.noise_floor < 0.15
        assert (result.compared, result.reason) == (2, None)


def test_instability_is_the_mean_over_versions(linear: Any) -> None:
    """One unchanged version (0) and one that flips every sign (1): ½, and 0 by |φ|."""
    weights = np.array([1, -2, 3, 0, 0, 1, 0, 2])
    (result,) = DocumentExplainer([ShapMethod()]).explain(
        linear(weights), [linear(weights), linear(-weights)], seed=0
    )
    assert result.instability == pytest.approx(0.5)
    assert result.absolute == pytest.approx(0.0, abs=1e-6)
    assert result.one_minus_cosine == pytest.approx(1.0)
    assert result.one_minus_spearman == pytest.approx(1.0)
    assert [a.values.shape for a in (result.original, *result.perturbed)] == [(8,)] * 3


def test_unavailable_method_is_a_reason_beside_the_others(linear: Any) -> None:
    """One missing model must not cost the other methods."""
    *_, attention = DocumentExplainer(METHODS).explain(linear([1] * 8), [linear([1] * 8)], seed=0)
    assert attention.method == "attention"
    assert (attention.instability, attention.reason) == (None, Reason.UNAVAILABLE)
    assert attention.evaluations == 0


def test_both_budgets_are_kept_and_reported(linear: Any, document_of: Any) -> None:
    """Counted by the evaluators: 200 for one explanation, 700 for all twelve of them."""
    weights = np.random.default_rng(0).normal(size=300)
    games = [linear(weights, document_of(300)) for _ in range(3)]
    for per_record in (700, 10_000):
        before = sum(game.seen for game in games)
        results = DocumentExplainer(
            METHODS[:3], max_evaluations=200, max_evaluations_per_record=per_record
        ).explain(games[0], games[1:], seed=3)
        used = sum(game.seen for game in games) - before
        assert used == sum(result.evaluations for result in results) <= per_record
        for result in results:
            for attribution in (result.original, *result.perturbed):
                assert 0 < attribution.evaluations <= 200


def test_a_budget_too_small_for_anyone_is_said(linear: Any) -> None:
    """Three masks explain nothing; no call is made."""
    game = linear([1] * 8)
    results = DocumentExplainer(METHODS[:3], max_evaluations_per_record=40).explain(
        game, [game], seed=0
    )
    assert {result.reason for result in results} == {Reason.OVER_BUDGET}
    assert game.seen == 0


def test_no_versions_no_instability_but_values(linear: Any) -> None:
    """The words are still of use to the page of the record."""
    (result,) = DocumentExplainer([ShapMethod()]).explain(linear([1] * 8), [], seed=0)
    assert (result.instability, result.reason) == (None, Reason.TOO_FEW_RUNS)
    assert result.original.values is not None


def test_zero_attributions_are_missing_with_a_reason(linear: Any) -> None:
    """A summary that no word changes has no distribution of attributions; 0 would be a claim."""
    for result in DocumentExplainer(METHODS[:3]).explain(
        linear([0] * 8), [linear([1] * 8)], seed=0
    ):
        assert (result.instability, result.noise_floor) == (None, None)
        assert result.reason is Reason.ZERO_ATTRIBUTION


def test_misaligned_version_is_left_out(linear: Any) -> None:
    """Word by word comparison of different words would be noise that looks like a finding."""
    (result,) = DocumentExplainer([ShapMethod()]).explain(
        linear([1, 2, 3], "a b c"), [linear([1, 2], "a b"), linear([1, 2, 3], "a x c")], seed=0
    )
    assert [a.reason for a in result.perturbed] == [Reason.INTERNAL_ERROR, None]
    assert (result.compared, result.instability) == (1, 0.0)


def test_a_failing_summarizer_is_a_reason_and_its_calls_count(known_game: Any) -> None:
    """The budget was spent all the same."""

    def times_out(masks: np.ndarray) -> np.ndarray:
        if not masks.any(axis=1).all():
            raise ValueUnknown(Reason.SUMMARIZER_TIMEOUT)
        return masks.sum(axis=1)

    game = known_game(times_out, WORDS)
    shap, lime, smile = DocumentExplainer(METHODS[:3]).explain(game, [game], seed=0)
    for result in (shap, lime):
        assert (result.instability, result.reason) == (None, Reason.SUMMARIZER_TIMEOUT)
        assert result.evaluations > 0
    assert smile.reason is None, "its masks keep two words"


@pytest.mark.parametrize(
    "document", ["", "…", "word", "rose rose rose rose", "हिन्दी भाषा में", "株価は上昇した。"]
)
def test_odd_documents_have_a_value_or_a_reason(known_game: Any, document: str) -> None:
    """No crash, no NaN, in any method."""
    game = known_game(lambda masks: np.sqrt(masks.sum(axis=1)), document)
    for result in DocumentExplainer(METHODS).explain(game, [game], seed=0):
        assert (result.instability is None) != (result.reason is None)
        if result.original.values is not None:
            assert np.isfinite(result.original.values).all()
            assert len(result.original.values) == len(result.words)


def test_five_thousand_words_keep_the_budget(known_game: Any, document_of: Any) -> None:
    """250 sentences and 200 evaluations: coarse, and said to be."""
    weights = np.random.default_rng(0).normal(size=5000)
    game = known_game(lambda masks: masks @ weights, document_of(5000))
    for result in DocumentExplainer(METHODS[:3], max_evaluations=200).explain(game, [], seed=0):
        assert result.original.values.shape == (5000,)
        assert result.original.evaluations <= 200
