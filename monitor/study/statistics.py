"""How well a number separates two kinds of records, and how sure that is.

The area under the ROC curve is the probability that a record with the label gets a higher
score than one without it, a tie counting one half:

    AUROC = (1 / n₁n₀) Σ_{i: label} Σ_{j: no label} [s_i > s_j] + ½ [s_i = s_j],

which is Mann and Whitney's U over n₁n₀; ½ is chance, below ½ the order is the wrong way
round. It needs no threshold and no scale, so that scores of any kind compare.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.errors import MalformedInput
from monitor.records import FloatArray

LEVEL = 0.95
"""Of the intervals."""
RESAMPLES = 2000
"""Of the bootstrap over clusters."""
DEFINED = 0.95
"""Share of resamples that must hold both labels for their percentiles to be stated."""

Labels = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Bounds of a bootstrap interval."""

    low: float
    high: float


def auroc(scores: FloatArray, labels: Labels) -> float | None:
    """AUROC of `scores` (n,) for `labels` (n,), by mid-ranks in O(n log n).

    `None` where one label is absent: then there is no pair to put in order. Raises
    `MalformedInput` for a score that is not finite.

    >>> auroc(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    0.875
    """
    won, pairs = _won(scores, labels)
    return won / pairs if pairs else None


def auroc_within(
    scores: FloatArray, labels: Labels, strata: Sequence[Hashable]
) -> tuple[float | None, int]:
    """AUROC over the pairs whose two records are of one stratum, and how many pairs that is.

    Σ_s U_s / Σ_s n₁ₛn₀ₛ: a score that does no more than tell strata apart gets ½ here, however
    well it does over all pairs. `None` where no stratum holds both labels.

    >>> auroc_within(np.array([0.0, 0.0, 1.0, 1.0]), np.array([False, False, True, True]), "aabb")
    (None, 0)
    """
    _check(scores, labels)
    index = _numbers(strata, len(scores))
    won, pairs = 0.0, 0
    for stratum in range(int(index.max(initial=-1)) + 1):
        more, others = _won(scores[index == stratum], labels[index == stratum])
        won, pairs = won + more, pairs + others
    return (won / pairs if pairs else None), pairs


def auroc_interval(
    scores: FloatArray,
    labels: Labels,
    clusters: Sequence[Hashable],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap interval of the AUROC, drawing whole clusters with replacement.

    Records of one cluster (summaries of one document) are not independent: drawn one by one
    they would make the interval too narrow. With c (clusters,) how often each was drawn,
    the AUROC of a resample is cᵀWc / cᵀNc, where W_gh counts the pairs that a labelled record
    of g wins over an unlabelled one of h, and N_gh all such pairs: equal to resampling the
    records, without sorting them again.

    A resample with one label only has no AUROC and is left out; the interval is `None` with
    fewer than two clusters, or where more than 5 % of the resamples are like that.

    Measured coverage of the nominal 95 % on two normal scores one deviation apart, three
    records a cluster that share half of their variance, 2,000 data sets each: 90.2 % with 10
    clusters, 93.6 % with 30, 94.3 % with 120
    (`pytest -m slow -rP tests/unit/study/test_statistics.py`): too narrow with few clusters.
    It has width 0 where no resample changes the order: at 1 where the two labels do not
    overlap, at ½ where all scores tie. That says that these records agree and no more.
    """
    _check(scores, labels)
    groups = _numbers(clusters, len(scores))
    count = int(groups.max(initial=-1)) + 1
    if count < 2:
        return None
    won, pairs = _by_cluster(scores, labels, groups, count)
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    totals = np.einsum("bg,gh,bh->b", drawn, pairs, drawn, optimize=True)
    known = totals > 0
    if known.mean() < DEFINED:
        return None
    values = np.einsum("bg,gh,bh->b", drawn, won, drawn, optimize=True)[known] / totals[known]
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(low=float(low), high=float(high))


def _won(scores: FloatArray, labels: Labels) -> tuple[float, int]:
    """U and n₁n₀, from the sum of the labelled records' mid-ranks less its least value."""
    _check(scores, labels)
    labelled = int(labels.sum())
    pairs = labelled * (len(labels) - labelled)
    if not pairs:
        return 0.0, 0
    _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    return float(ranks[labels].sum()) - labelled * (labelled + 1) / 2, pairs


def _by_cluster(
    scores: FloatArray, labels: Labels, groups: NDArray[np.intp], count: int
) -> tuple[FloatArray, FloatArray]:
    """W and N, both (clusters, clusters): rows by the labelled, columns by the unlabelled."""
    order = np.arange(count)
    labelled = (groups[labels, None] == order).astype(np.float64)
    others = (groups[~labels, None] == order).astype(np.float64)
    difference = scores[labels, None] - scores[None, ~labels]
    wins = (np.sign(difference) + 1) / 2
    return labelled.T @ wins @ others, np.outer(labelled.sum(axis=0), others.sum(axis=0))


def _numbers(names: Sequence[Hashable], count: int) -> NDArray[np.intp]:
    """0, 1, 2 … for names in the order in which they appear."""
    if len(names) != count:
        raise MalformedInput(
            "clusters", f"{len(names)} names beside {count} scores", "give one for each record"
        )
    known: dict[Any, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.intp)


def _check(scores: FloatArray, labels: Labels) -> None:
    if scores.shape != labels.shape or scores.ndim != 1:
        raise MalformedInput(
            "labels", f"shape {labels.shape} beside scores {scores.shape}", "give one a score"
        )
    if not bool(np.isfinite(scores).all()):
        raise MalformedInput(
            "scores", "NaN or infinity among them", "leave out records without a score"
        )
