"""The reworded versions of a document: how many words changed, which, and into what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from monitor.records.outcome import Reason


class Strength(StrEnum):
    """The requested band of a perturbation, in share of a document's word tokens."""

    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"

    @property
    def band(self) -> tuple[float, float]:
        """[low, high) as fractions; `high` includes its upper end."""
        return {"low": (0.02, 0.10), "moderate": (0.10, 0.20), "high": (0.20, 0.30)}[self.value]

    def contains(self, share: float) -> bool:
        """Whether an achieved share lies in the band.

        >>> Strength.LOW.contains(0.10), Strength.HIGH.contains(0.30)
        (False, True)
        """
        low, high = self.band
        return low <= share < high or (self is Strength.HIGH and share == high)


@dataclass(frozen=True, kw_only=True, slots=True)
class Substitution:
    """One word replaced by a neighbour."""

    index: int
    """Position among the document's tokens (spaCy's, whitespace not counted); the same
    position in the original and in the perturbed document."""
    original: str
    replacement: str
    """Inflected and capitalized like the original."""
    similarity: float
    """Cosine of the two words' vectors, ≥ τ."""
    start: int
    """Code-point offset of the original in the *original* document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Perturbation:
    """One reworded version x⁽ᵏ⁾ of a document."""

    strength: Strength
    """The band that was asked for."""
    share: float
    """Replaced word tokens / word tokens, in [0, 1]: what was achieved."""
    reached: bool
    """Whether `share` lies in the band of `strength`."""
    substitutions: tuple[Substitution, ...]
    document: str
    min_cosine: float
    """The least SBERT cosine of a changed sentence with its original, ≥ γ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationSet:
    """What the perturber made of one document."""

    perturbations: tuple[Perturbation, ...]
    """At most K, all different from each other and from the document."""
    reason: Reason | None
    """Why there are none; `None` where there is at least one."""
    words: int
    """Word tokens of the document: the denominator of `share`."""
    eligible: int
    """Tokens that may be replaced."""
    replaceable: int | None = None
    """Eligible tokens with a replacement that passes every check when it is the only one in its
    sentence: the most that a version can replace. `None` where nobody counted."""
