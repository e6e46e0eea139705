"""The two-sample Kolmogorov–Smirnov statistic, weighted by 1/π.

    KS = max_x |F_current(x) − F_reference(x)|,   F(x) = Σ_{x_i ≤ x} w_i / Σ w_i,

in [0, 1], without a unit: sees any change of shape, and best one in the middle of the
distribution. Its textbook p-value assumes independent records; use `permutation.block_test`.
"""

from __future__ import annotations

import numpy as np

from monitor.drift.permutation import Pooled
from monitor.records import FloatArray


def ks(pooled: Pooled, current: FloatArray) -> FloatArray:
    """KS (p,) for p divisions of the pooled records, weights of the current ones (p, n)."""
    gap = distribution_gap(pooled, current)
    # Between tied values the two functions are not yet compared.
    last_of_ties = np.append(np.diff(pooled.values) > 0, True)
    return np.asarray(np.abs(gap[:, last_of_ties]).max(axis=1), dtype=np.float64)


def distribution_gap(pooled: Pooled, current: FloatArray) -> FloatArray:
    """F_current − F_reference after each pooled record: (p, n)."""
    summed = np.cumsum(current, axis=1)
    total = np.cumsum(pooled.weights)
    share = summed[:, -1:]
    return np.asarray(summed / share - (total - summed) / (total[-1] - share), dtype=np.float64)
