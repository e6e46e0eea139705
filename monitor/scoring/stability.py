"""Whether a reference window was one steady state, or holds a change in the middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from monitor.records import FloatArray

ALPHA = 0.01
"""Chance of a warning on a steady reference, over all its categories together."""
LEAST = 20
"""Documents a half must have: with fewer the normal approximation does not hold."""


def unstable_halves(parts: Mapping[str | None, Sequence[Sequence[float]]]) -> list[str]:
    """A warning for each category whose first and second half do not agree.

    `parts` holds, by category (`None` is all of them), the distances of each document in
    the order in which they were received. Compared is the mean of the document means, with
    z = (x̄₂ − x̄₁)/√(s₁²/n₁ + s₂²/n₂) over documents, since the distances of one document
    depend on each other. The mean stands for the whole distribution: the 95th percentile
    itself moves so much from half to half that only changes of several tenths would show.
    The limit on |z| is Bonferroni-corrected for the number of categories.

    Assumes that documents arrive independently of each other. Measured on 2,000 steady
    references (8 Beta distances a document): 1.4 % of those of 40 documents and 0.8 % of
    those of 200 warn; of references of 200 whose second half is higher by half a standard
    deviation of the document means 79 % do (`pytest tests/unit/scoring/test_stability.py`
    repeats it on fewer).

    >>> unstable_halves({None: [[0.1, 0.2]] * 10 + [[0.6, 0.8]] * 10})  # halves too small
    []
    """
    halves = {
        name: (means[: len(means) // 2], means[len(means) // 2 :])
        for name, documents in parts.items()
        if len(means := _means(documents)) >= 2 * LEAST
    }
    limit = NormalDist().inv_cdf(1 - ALPHA / (2 * max(len(halves), 1)))
    return [
        f"{'all categories' if name is None else f'category {name!r}'}: the mean distance "
        f"went from {first.mean():.3f} in the first half of the window to "
        f"{second.mean():.3f} in the second; choose a window without a change in it"
        for name, (first, second) in halves.items()
        if _z(first, second) > limit
    ]


def _means(documents: Sequence[Sequence[float]]) -> FloatArray:
    return np.array([np.mean(distances) for distances in documents if len(distances)])


def _z(first: FloatArray, second: FloatArray) -> float:
    gap = abs(float(second.mean() - first.mean()))
    error = float(np.sqrt(first.var(ddof=1) / first.size + second.var(ddof=1) / second.size))
    if error == 0.0:
        # Two halves without any spread: a different mean is then no chance at all.
        return 0.0 if gap == 0.0 else float("inf")
    return gap / error
