"""Summaries as distributions of their sentences, and how far those moved."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.records.arrays import FloatArray
from monitor.records.outcome import Reason
from monitor.records.perturbation import Perturbation
from monitor.records.summaries import Summary


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryDistribution:
    """μ_y: a summary as an equally weighted point set on the unit sphere."""

    sentences: tuple[str, ...]
    embeddings: FloatArray
    """(sentences, dimensions), rows of unit length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transport:
    """An exact optimal transport between two summary distributions."""

    distance: float
    """W₁, in [0, 2]."""
    plan: FloatArray
    """(n, m): mass moved from baseline sentence i to perturbed sentence j; sums to 1."""
    cost: FloatArray
    """(n, m): Euclidean distance of the two unit vectors, in [0, 2]."""
    source: tuple[str, ...]
    """Baseline sentences (n)."""
    target: tuple[str, ...]
    """Perturbed summary's sentences (m)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationScore:
    """One perturbed document, its summary, and how far that summary moved."""

    perturbation: Perturbation
    summary: Summary
    transport: Transport | None
    """`None` where the summary is missing; `reason` says why."""
    reason: Reason | None = None

    @property
    def distance(self) -> float | None:
        """D_k = W₁(μ_{y₀}, μ_{y_k})."""
        return None if self.transport is None else self.transport.distance


@dataclass(frozen=True, kw_only=True, slots=True)
class NullRun:
    """One more summary of the unchanged document: what serving noise alone does."""

    summary: Summary
    distance: float | None
    source: str
    """`run` (asked again) or `choice` (a spare choice of the observed answer)."""
