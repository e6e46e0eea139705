"""The population stability index, weighted by 1/π.

    PSI = Σ_b (c_b − r_b) · ln(c_b / r_b)

over ten bins, r_b and c_b the weighted shares of reference and current records in bin b. The
usual reading, 0.1 "look", 0.25 "act", knows nothing of the sample size: under no change PSI
is about (1/n + 1/m) χ² with 9 degrees of freedom, so with 50 records 0.25 is chance. Hence
the p-value of `permutation.block_test` decides, and PSI is the size.

The bins are deciles of both samples together. Deciles of the reference alone, the usual
choice, would make the true division special among the permuted ones (its reference shares
would be exactly equal), and the p-value wrong.
"""

from __future__ import annotations

import numpy as np

from monitor.drift.permutation import Pooled
from monitor.errors import MalformedInput
from monitor.records import FloatArray

BINS = 10
EMPTY = 0.5
"""Records (of average weight) added to each bin of each sample: an empty bin must not make
the index infinite."""


def psi_of_shares(reference: FloatArray, current: FloatArray) -> FloatArray:
    """Σ (c − r) ln(c/r) over the last axis; all shares positive.

    >>> float(psi_of_shares(np.array([0.5, 0.5]), np.array([0.25, 0.75])).round(4))
    0.2747
    """
    return np.asarray(((current - reference) * np.log(current / reference)).sum(axis=-1))


def psi(pooled: Pooled, current: FloatArray) -> FloatArray:
    """PSI (p,) for p divisions of the pooled records, weights of the current ones (p, n)."""
    return psi_of_shares(*_shares(pooled, current, _edges(pooled)))


def _edges(pooled: Pooled) -> FloatArray:
    """Inner edges: weighted deciles, fewer where values are tied."""
    mass = np.cumsum(pooled.weights) / pooled.weights.sum()
    places = np.searchsorted(mass, np.arange(1, BINS) / BINS)
    edges = np.unique(pooled.values[np.minimum(places, len(mass) - 1)])
    # An edge at the greatest value would leave an empty last bin.
    return np.asarray(edges[edges < pooled.values[-1]], dtype=np.float64)


def _shares(
    pooled: Pooled, current: FloatArray, edges: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Smoothed shares of reference and current records, (p, bins) each."""
    if len(pooled.values) == 0:
        raise MalformedInput("values", "no values", "hand in both samples")
    # Records are sorted, so a bin is a stretch, and its mass a difference of running sums.
    ends = np.append(np.searchsorted(pooled.values, edges, side="right"), len(pooled.values))
    running = np.cumsum(current, axis=1)[:, ends - 1]
    total = np.cumsum(pooled.weights)[ends - 1]
    smoothing = EMPTY * float(pooled.weights.mean())
    masses = [np.diff(mass, axis=1, prepend=0.0) for mass in (total - running, running)]
    smoothed = [mass + smoothing for mass in masses]
    reference, now = (mass / mass.sum(axis=1, keepdims=True) for mass in smoothed)
    return reference, now
