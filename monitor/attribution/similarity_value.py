"""The value function for any black box: how close the masked document's summary stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from monitor.attribution.segmentation import PLACEHOLDER, BoolArray, Segmentation
from monitor.attribution.value import Outcome, ValueUnknown
from monitor.ports import Encoder
from monitor.records import Reason, Summary, SummaryDistribution

BOUND = 2.0
"""The greatest Euclidean distance of two unit vectors, and so the greatest W₁."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MaskedSummary:
    """The summary of one masked document."""

    text: str | None
    """`None` where the summarizer failed; empty where it said nothing."""
    sentences: tuple[str, ...] | None = None
    """Where the summarizer knows them (extraction); else the encoder splits `text`."""
    reason: Reason | None = None


class MaskedSummarizer(Protocol):
    """Summarizes masked versions of one document."""

    def summarize(self, masks: BoolArray) -> list[MaskedSummary]:
        """One summary a row of `masks` (n, words), in order. Never raises for a row."""


class TextMasking:
    """Masks text and asks a summarizer of texts: replay, chat or any other black box.

    `summarize` answers many texts at once. Masks that leave the same text are asked once;
    answers are kept for the life of this object, which is one document's explanations.
    """

    def __init__(
        self,
        *,
        segmentation: Segmentation,
        summarize: Callable[[Sequence[str]], Sequence[Summary]],
        placeholder: str = PLACEHOLDER,
    ) -> None:
        self._segmentation = segmentation
        self._summarize = summarize
        self._placeholder = placeholder
        self._answers: dict[str, MaskedSummary] = {}

    def summarize(self, masks: BoolArray) -> list[MaskedSummary]:
        texts = [
            # A document without words is not worth a call, and some models invent one.
            self._segmentation.render(mask, placeholder=self._placeholder) if mask.any() else ""
            for mask in masks
        ]
        self._answers.setdefault("", MaskedSummary(text="", reason=Reason.EMPTY_DOCUMENT))
        fresh = list(dict.fromkeys(text for text in texts if text not in self._answers))
        if fresh:
            for text, summary in zip(fresh, self._summarize(fresh), strict=True):
                self._answers[text] = MaskedSummary(text=summary.text, reason=summary.reason)
        return [self._answers[text] for text in texts]


class SimilarityEvaluator:
    """v(S) = 1 − W₁(μ_y, μ_{y(S)})/2, in [0, 1].

    y is the summary that is explained, y(S) that of the document with only the words S.
    A masked document whose summary is empty keeps nothing of y: its distance is taken as the
    bound 2, so v = 0. A summarizer that *failed* (timeout, error) says nothing about the
    document, and raises `ValueUnknown`.

    The separation from the full document is W₁(μ_y, μ_{y(S)})/2 = 1 − v: for a deterministic
    summarizer y is the full document's output, and no further transport is solved.

    Costs are kept down by two caches: summaries with the same sentences are compared
    once, and a sentence that is already known (extraction repeats them) is embedded once.
    """

    def __init__(
        self,
        *,
        segmentation: Segmentation,
        summary: str,
        baseline: SummaryDistribution,
        summarizer: MaskedSummarizer,
        encoder: Encoder,
        distance: Callable[[SummaryDistribution, SummaryDistribution], float],
    ) -> None:
        """`baseline` is μ_y; `distance` is W₁ in [0, 2]."""
        self.segmentation = segmentation
        self.summary = summary
        self._baseline = baseline
        self._summarizer = summarizer
        self._encoder = encoder
        self._distance = distance
        self._vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
        self._values: dict[tuple[str, ...] | str, float] = {}

    def evaluate(self, masks: BoolArray) -> list[Outcome]:
        summaries = self._summarizer.summarize(masks)
        for summary in summaries:
            if summary.text is None and summary.reason is not Reason.EMPTY_SUMMARY:
                raise ValueUnknown(summary.reason or Reason.SUMMARIZER_ERROR)
        keys = [_key(summary) for summary in summaries]
        fresh = list(dict.fromkeys(key for key in keys if key not in self._values))
        for key, distribution in zip(fresh, self._distributions(fresh), strict=True):
            away = BOUND if distribution is None else self._distance(self._baseline, distribution)
            self._values[key] = 1.0 - away / BOUND
        return [Outcome(value=self._values[key], output=np.empty(0)) for key in keys]

    def separation(self, outcome: Outcome, full: Outcome) -> float:
        return min(max(1.0 - outcome.value, 0.0), 1.0)

    def _distributions(
        self, keys: Sequence[tuple[str, ...] | str]
    ) -> list[SummaryDistribution | None]:
        """μ of each summary; all that must be embedded goes into one batch a kind."""
        texts = [key for key in keys if isinstance(key, str)]
        embedded = self._encoder.distributions(texts) if texts else []
        from_texts = dict(zip(texts, embedded, strict=True))
        split = [key for key in keys if isinstance(key, tuple)]
        unknown = list(dict.fromkeys(s for key in split for s in key if s not in self._vectors))
        if unknown:
            self._vectors.update(zip(unknown, self._encoder.encode(unknown), strict=True))
        return [
            from_texts[key] if isinstance(key, str) else self._from_sentences(key) for key in keys
        ]

    def _from_sentences(self, sentences: tuple[str, ...]) -> SummaryDistribution | None:
        if not sentences:
            return None
        vectors = np.stack([self._vectors[sentence] for sentence in sentences])
        return SummaryDistribution(sentences=sentences, embeddings=vectors)


def _key(summary: MaskedSummary) -> tuple[str, ...] | str:
    return summary.sentences if summary.sentences is not None else summary.text or ""
