"""What each word of a document is worth, and how much that changes under rewording."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from monitor.records.arrays import FloatArray
from monitor.records.outcome import Reason


class AttributionMethod(StrEnum):
    """The attribution methods, by the names that configuration, metrics and SQL use."""

    SHAP = "shap"
    LIME = "lime"
    SMILE = "smile"
    ATTENTION = "attention"


class Granularity(StrEnum):
    """What the players of the game were whose values the words carry."""

    WORD = "word"
    SENTENCE = "sentence"
    """Every word carries its sentence's value, shared equally."""
    SENTENCE_THEN_WORD = "sentence_then_word"
    """Words have values of their own only inside the sentences that matter."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attribution:
    """One number per word of one document, or the reason why there is none."""

    values: FloatArray | None
    """φ, (words,)."""
    granularity: Granularity = Granularity.WORD
    evaluations: int = 0
    """Masked documents that it took."""
    fit: float | None = None
    """Weighted R² of a surrogate (LIME, SMILE); `None` for methods without one."""
    reason: Reason | None = None
    """Why there are no values."""

    @property
    def distinct_values(self) -> int:
        """Different values among the words, to 12 digits: 15 over 300 words mean groups."""
        return 0 if self.values is None else len(np.unique(np.round(self.values, 12)))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MethodResult:
    """One method on a document and its reworded versions."""

    method: str
    words: tuple[str, ...]
    """Words of the original document."""
    original: Attribution
    perturbed: tuple[Attribution, ...]
    """In the order in which the perturbed documents were handed in."""
    instability: float | None
    """I = mean signed Jensen–Shannon distance, in [0, 1]."""
    absolute: float | None
    """Mean distance of |φ|."""
    one_minus_spearman: float | None
    one_minus_cosine: float | None
    noise_floor: float | None
    """Signed distance of two explanations of the unchanged document; exactly 0 for a method
    that draws nothing at random."""
    compared: int
    """Perturbed documents behind the means (K')."""
    evaluations: int
    """Of all explanations of this method together, the noise floor's included."""
    reason: Reason | None
    """Why there is no instability."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Explanation:
    """What the attribution stage found out about one record."""

    methods: tuple[MethodResult, ...]
    """One for each configured method; all of them `not_selected` where the policy said so."""
    probability: float | None
    """With which the policy was to select a record with this HSS: means over explained records
    weigh by 1/(π · probability). `None` where it did not select it."""
    value: str | None
    """The value function: `likelihood` or `similarity`."""
    versions: tuple[int, ...]
    """Positions in `ScoredRecord.perturbations` of the versions behind `perturbed`."""
    spans: tuple[tuple[int, int], ...]
    """Code-point offsets [start, end) of the words in the document."""
