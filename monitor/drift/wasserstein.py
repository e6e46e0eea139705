"""The two-sample Wasserstein distance of a signal, weighted by 1/π.

    W₁ = ∫ |F_current(x) − F_reference(x)| dx,

in the units of the mapped signal: how far the current records would have to be moved on
average. At least |difference of the means|, with equality where all moved one way. (Not to
be confused with the distance between two summaries, which is a *signal* here.)
"""

from __future__ import annotations

import numpy as np

from monitor.drift.ks import distribution_gap
from monitor.drift.permutation import Pooled
from monitor.records import FloatArray


def wasserstein(pooled: Pooled, current: FloatArray) -> FloatArray:
    """W₁ (p,) for p divisions of the pooled records, weights of the current ones (p, n)."""
    gap = distribution_gap(pooled, current)
    # The last gap is 0 and has no step; a whole matrix is much faster to multiply than a slice.
    steps = np.append(np.diff(pooled.values), 0.0)
    return np.asarray(np.abs(gap) @ steps, dtype=np.float64)
