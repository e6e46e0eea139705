"""The distance between two summaries: exact optimal transport between their sentences."""

from __future__ import annotations

import numpy as np
import ot
from scipy.spatial.distance import cdist

from monitor.errors import MalformedInput, MonitorError
from monitor.records import FloatArray, SummaryDistribution, Transport

DIAMETER = 2.0
"""The greatest Euclidean distance of two unit vectors."""
UNIT_TOLERANCE = 1e-3
"""How far a row may be from unit length: far more than float32 rounding, far less than
an encoder that forgot to normalize."""
PIVOTS = 1_000_000
"""Simplex steps before the solver gives up: ten times its default, in which 500 × 500
sentences are solved."""


def transport(source: SummaryDistribution, target: SummaryDistribution) -> Transport:
    """W₁(μ, ν) of two summaries, with the plan and the costs that explain it.

    W₁ = min over plans π of Σᵢⱼ πᵢⱼ ‖uᵢ − vⱼ‖₂, where π has row sums 1/n and column sums
    1/m, and uᵢ, vⱼ are the unit embeddings of the two summaries' sentences. The minimum is
    exact (network simplex of POT), not an entropic approximation, so it is a metric:
    0 for equal summaries in any order of sentences, symmetric, and at most 2.
    A sentence that stands twice in a summary carries two shares of its mass.

    Raises `MalformedInput` for a distribution without sentences or whose embeddings are
    not finite unit rows, one for each sentence, of equal dimension.

    >>> one = SummaryDistribution(sentences=("a",), embeddings=np.array([[1.0, 0.0]]))
    >>> two = SummaryDistribution(sentences=("a", "b"), embeddings=np.eye(2))
    >>> round(transport(one, two).distance, 4)  # half of the mass moves by √2
    0.7071
    """
    rows, columns = _points(source, "source"), _points(target, "target")
    if rows.shape[1] != columns.shape[1]:
        raise MalformedInput(
            "target",
            f"{columns.shape[1]} dimensions, the source has {rows.shape[1]}",
            "embed both summaries with the same encoder",
        )
    # From differences, not as √(2 − 2 u·v): the latter makes 1e-8 of two equal vectors.
    cost: FloatArray = np.minimum(cdist(rows, columns), DIAMETER)
    n, m = cost.shape
    plan, log = ot.emd(np.full(n, 1 / n), np.full(m, 1 / m), cost, numItermax=PIVOTS, log=True)
    if log["warning"] is not None:
        raise MonitorError(
            f"no optimal transport between {n} and {m} sentences: {log['warning']}; "
            "lower scoring.max_words so that summaries stay shorter"
        )
    # Masses that rounding made slightly negative would show as −0.0 to a reader.
    plan = np.maximum(plan, 0.0)
    distance = min(max(float(np.sum(plan * cost)), 0.0), DIAMETER)
    return Transport(
        distance=distance,
        plan=plan,
        cost=cost,
        source=source.sentences,
        target=target.sentences,
    )


def _points(distribution: SummaryDistribution, field: str) -> FloatArray:
    points = np.asarray(distribution.embeddings, dtype=np.float64)
    sentences = len(distribution.sentences)
    if sentences == 0:
        raise MalformedInput(
            field, "no sentences", "skip a summary without words with reason empty_summary"
        )
    if points.ndim != 2 or points.shape[0] != sentences or points.shape[1] == 0:
        raise MalformedInput(
            f"{field}.embeddings",
            f"shape {points.shape} for {sentences} sentences",
            "pass one row a sentence",
        )
    lengths = np.linalg.norm(points, axis=1)
    # Written so that NaN fails it as well.
    if not bool(np.all(np.abs(lengths - 1.0) <= UNIT_TOLERANCE)):
        raise MalformedInput(
            f"{field}.embeddings",
            f"row lengths between {lengths.min():.4g} and {lengths.max():.4g}",
            "scale every row to unit length",
        )
    return points
