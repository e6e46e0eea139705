"""Means of a sample whose records were drawn with unequal probability.

The Hájek mean of values x_i that were included with probability π_i is

    μ̂ = Σ w_i x_i / Σ w_i,   w_i = 1/π_i.

Its variance comes from the linearized residuals z_i = w_i (x_i − μ̂) / Σ w, summed within
clusters (records of one trace are drawn together, so they are one draw):

    V = G/(G−1) Σ_g (Σ_{i∈g} z_i)²,

and the interval is Student's t with G − 1 degrees of freedom. With equal π and one record
a cluster this is the ordinary mean and its ordinary t interval. Source: Särndal, Swensson
and Wretman, Model Assisted Survey Sampling, sections 5.7 and 5.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from monitor.errors import MalformedInput
from monitor.records import FloatArray

Clusters = NDArray[Any]
"""One label a record (trace ids, numbers); equal labels were drawn together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A weighted mean and what is known about its error."""

    value: float
    std_error: float | None
    """`None` with fewer than two clusters."""
    low: float | None
    high: float | None
    level: float
    """Coverage that the interval is made for."""
    records: int
    clusters: int
    effective_records: float
    """Kish's (Σw)²/Σw²: what the sample is worth with equal weights."""


def hajek_mean(
    values: FloatArray,
    *,
    probabilities: FloatArray | None = None,
    clusters: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """The weighted mean of `values` (n,) with its interval; a share, where they are 0 and 1.

    `probabilities` (n,) are the inclusion probabilities π in (0, 1]; without them all
    weights are equal. Raises `MalformedInput` for an empty or a non-finite input.

    >>> estimate = hajek_mean(np.array([0.0, 1.0]), probabilities=np.array([1.0, 0.25]))
    >>> estimate.value
    0.8
    """
    check_finite("values", values)
    weights = inverse(probabilities, len(values))
    total = float(weights.sum())
    mean = float(weights @ values) / total
    labels = cluster_index(clusters, len(values))
    sums = np.bincount(labels, weights=weights * (values - mean) / total)
    groups = len(sums)
    error: float | None = None
    margin = 0.0
    if groups > 1:
        error = float(np.sqrt(groups / (groups - 1) * (sums @ sums)))
        margin = float(stdtrit(groups - 1, 0.5 + level / 2)) * error
    return Estimate(
        value=mean,
        std_error=error,
        low=None if error is None else mean - margin,
        high=None if error is None else mean + margin,
        level=level,
        records=len(values),
        clusters=groups,
        effective_records=total**2 / float(weights @ weights),
    )


def inverse(probabilities: FloatArray | None, count: int) -> FloatArray:
    """Weights 1/π (count,), all 1 where no probability is given; each π lies in (0, 1]."""
    if probabilities is None:
        return np.ones(count)
    check_length("probabilities", len(probabilities), count)
    bad = ~((probabilities > 0) & (probabilities <= 1))
    if bad.any():
        raise MalformedInput(
            "probabilities",
            f"{float(probabilities[bad][0])!r} is no inclusion probability",
            "hand in π in (0, 1] of each record as stored with it",
        )
    return np.asarray(1.0 / probabilities, dtype=np.float64)


def cluster_index(clusters: Clusters | None, count: int) -> NDArray[np.intp]:
    """Numbers 0 … G−1 for cluster labels; without labels each record is its own cluster."""
    if clusters is None:
        return np.arange(count)
    check_length("clusters", len(clusters), count)
    return np.asarray(np.unique(clusters, return_inverse=True)[1], dtype=np.intp)


def check_finite(name: str, values: FloatArray) -> None:
    """Refuse an empty array and NaN: what was not computed is left out by the caller."""
    if len(values) == 0:
        raise MalformedInput(name, "no values", "hand in at least one record")
    if not np.isfinite(values).all():
        raise MalformedInput(
            name, "NaN or infinity among the values", "leave out records without this signal"
        )


def check_length(name: str, length: int, count: int) -> None:
    """Refuse a column that does not belong to the values beside it."""
    if length != count:
        raise MalformedInput(
            name, f"{length} entries beside {count} values", "hand in one entry a record"
        )
