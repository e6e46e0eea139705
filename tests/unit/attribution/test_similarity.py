"""The similarity value, its caches, and what a silent or failing summarizer comes to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from monitor.attribution.segmentation import segment
from monitor.attribution.similarity_value import (
    MaskedSummary,
    SimilarityEvaluator,
    TextMasking,
)
from monitor.attribution.value import ValueUnknown
from monitor.records import FloatArray, Reason, Summary, SummaryDistribution


class AngleEncoder:
    """One unit vector a sentence, by its length; counts what it is asked for."""

    name = "angles"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        self.encoded += sentences
        angles = np.array([len(sentence) / 10 for sentence in sentences])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        return [
            SummaryDistribution(sentences=(text,), embeddings=self.encode([text]))
            if any(c.isalnum() for c in text)
            else None
            for text in texts
        ]


def _first_vectors(a: SummaryDistribution, b: SummaryDistribution) -> float:
    return float(np.linalg.norm(a.embeddings[0] - b.embeddings[0]))


DOCUMENT = "alpha beta gamma"


def _evaluator(encoder: AngleEncoder, answers: list[list[str]], failure: Reason | None = None):
    """A summarizer that gives the text back, as a lazy black box does."""

    def summarize(texts: Sequence[str]) -> list[Summary]:
        answers.append(list(texts))
        return [
            Summary(text=None, reason=failure) if failure else Summary(text=text) for text in texts
        ]

    cut = segment(DOCUMENT)
    (baseline,) = encoder.distributions([DOCUMENT])
    assert baseline is not None
    return SimilarityEvaluator(
        segmentation=cut,
        summary=DOCUMENT,
        baseline=baseline,
        summarizer=TextMasking(segmentation=cut, summarize=summarize, placeholder="_"),
        encoder=encoder,
        distance=_first_vectors,
    )


def test_value_is_one_minus_half_the_distance() -> None:
    """Chord of the angle between 16 and 12 letters: 2·sin(0.2), so v = 1 − sin(0.2)."""
    evaluator = _evaluator(AngleEncoder(), [])
    full, masked = evaluator.evaluate(np.array([[True] * 3, [True, True, False]]))
    assert full.value == 1.0
    assert masked.value == pytest.approx(1 - np.sin(0.2))
    assert evaluator.separation(masked, full) == pytest.approx(np.sin(0.2))


def test_a_text_is_summarized_and_embedded_once() -> None:
    """The black box is what costs."""
    encoder, answers = AngleEncoder(), []
    evaluator = _evaluator(encoder, answers)
    masks = np.array([[True, True, False], [True, True, False], [True, False, False]])
    evaluator.evaluate(masks)
    evaluator.evaluate(masks)
    assert answers == [["alpha beta _", "alpha _ _"]]
    assert encoder.encoded == [DOCUMENT, "alpha beta _", "alpha _ _"]


def test_no_words_means_no_call_and_no_value() -> None:
    """A model asked to summarize nothing invents something."""
    answers: list[list[str]] = []
    (outcome,) = _evaluator(AngleEncoder(), answers).evaluate(np.zeros((1, 3), dtype=bool))
    assert (outcome.value, answers) == (0.0, [])


def test_a_summarizer_that_says_nothing_keeps_nothing() -> None:
    """Empty is an answer, at the greatest distance."""
    evaluator = _evaluator(AngleEncoder(), [], failure=Reason.EMPTY_SUMMARY)
    (outcome,) = evaluator.evaluate(np.ones((1, 3), dtype=bool))
    assert outcome.value == 0.0


def test_a_summarizer_that_fails_gives_no_value() -> None:
    """A timeout says nothing about the document, so 0 would be a lie."""
    evaluator = _evaluator(AngleEncoder(), [], failure=Reason.SUMMARIZER_TIMEOUT)
    with pytest.raises(ValueUnknown) as raised:
        evaluator.evaluate(np.ones((1, 3), dtype=bool))
    assert raised.value.reason is Reason.SUMMARIZER_TIMEOUT


def test_known_sentences_are_embedded_once() -> None:
    """Extraction repeats sentences in new combinations: only new sentences cost."""

    class Extraction:
        def summarize(self, masks: np.ndarray) -> list[MaskedSummary]:
            chosen = [tuple(s for s, kept in zip("abc", m, strict=True) if kept) for m in masks]
            return [MaskedSummary(text=" ".join(c), sentences=c) for c in chosen]

    encoder = AngleEncoder()
    (baseline,) = encoder.distributions(["a"])
    assert baseline is not None
    evaluator = SimilarityEvaluator(
        segmentation=segment("a b c"),
        summary="a",
        baseline=baseline,
        summarizer=Extraction(),
        encoder=encoder,
        distance=_first_vectors,
    )
    masks = np.array([[True, True, False], [False, True, True], [True, True, True]])
    values = [outcome.value for outcome in evaluator.evaluate(masks)]
    assert encoder.encoded == ["a", "a", "b", "c"]
    assert values == [1.0, 1.0, 1.0]
