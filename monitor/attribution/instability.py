"""How far two attributions of the same words lie apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from monitor.attribution.scaling import scaled
from monitor.records import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """How far two attributions of the same words lie apart; 0 is no difference."""

    signed: float
    """Jensen–Shannon distance (base 2) over 2n cells, in [0, 1]."""
    absolute: float
    """The same over |φ|, n cells: the paper's form, blind to flipped signs."""
    one_minus_spearman: float | None
    """1 − ρ, in [0, 2]; `None` where one side is constant and so has no ranks."""
    one_minus_cosine: float
    """1 − cos, in [0, 2]."""


def jensen_shannon(p: FloatArray, q: FloatArray) -> float:
    """Jensen–Shannon distance with base 2 of two distributions over the same cells.

    d = √(½ KL(p ‖ m) + ½ KL(q ‖ m)), m = (p + q)/2; a metric, 0 ≤ d ≤ 1, and 1 exactly
    where the supports are disjoint (Endres & Schindelin 2003).

    >>> jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    middle = (p + q) / 2
    divergence = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    # Rounding leaves equal inputs a hair below 0, which has no root.
    return float(np.sqrt(np.clip(divergence, 0.0, 1.0)))


def signed_cells(shape: FloatArray) -> FloatArray:
    """p = (φ⁺, φ⁻) of a scaled φ: (n,) → (2n,).

    Positive and negative parts are apart, so that a flipped sign is as far as can be.

    >>> signed_cells(np.array([0.75, -0.25]))
    array([0.75, 0.  , 0.  , 0.25])
    """
    return np.concatenate([np.maximum(shape, 0.0), np.maximum(-shape, 0.0)])


def compare(first: FloatArray, second: FloatArray) -> Comparison | None:
    """Compare two attributions word by word; `None` where one of them is zero everywhere.

    Both are (n,) over aligned words: substitution keeps positions. Only the shape of φ
    counts, since both are scaled to Σ|φ| = 1: a value function that halves is no change.

    >>> compare(np.array([1.0, -2.0]), np.array([-1.0, 2.0])).signed
    1.0
    """
    a, b = scaled(first), scaled(second)
    if a is None or b is None:
        return None
    cosine = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
    return Comparison(
        signed=jensen_shannon(signed_cells(a), signed_cells(b)),
        absolute=jensen_shannon(np.abs(a), np.abs(b)),
        one_minus_spearman=_one_minus_spearman(a, b),
        one_minus_cosine=min(max(1.0 - cosine, 0.0), 2.0),
    )


def _relative_entropy(p: FloatArray, m: FloatArray) -> float:
    held = p > 0
    # m ≥ p/2 > 0 there, unless p/2 underflows: then the cell weighs nothing anyway.
    held &= m > 0
    return float(np.sum(p[held] * np.log2(p[held] / m[held])))


def _one_minus_spearman(a: FloatArray, b: FloatArray) -> float | None:
    ranks_a, ranks_b = (rankdata(side) - (len(side) + 1) / 2 for side in (a, b))
    spread = float(np.linalg.norm(ranks_a) * np.linalg.norm(ranks_b))
    if spread == 0.0:
        return None
    return min(max(1.0 - float(ranks_a @ ranks_b) / spread, 0.0), 2.0)
