"""The mean of a reference by hour of the day, and how well it is known.

A harmonic regression, weighted by 1/π:

    x_i = b₀ + Σ_{h ≤ H} (b_{2h−1} cos 2πh t_i/24 + b_{2h} sin 2πh t_i/24) + e_i,

with the sandwich covariance (X'WX)⁻¹ (Σ_g u_g u_g') (X'WX)⁻¹ · G/(G−1), u_g = Σ_{i∈g} w_i e_i X_i,
clustered by trace, and times the correlation time τ of the residuals. H is 0, 1 or 2, chosen
on the reference alone by Wald tests (F with G − 1 degrees of freedom), so everything that
follows is known before the next record arrives.

A cycle that the test misses is small: with n records of standard deviation s the amplitude
has standard error s·√(2/n), and what stays below about two of them is covered by the limit
of the mean and the tolerance δ. Hours that the reference never saw get a wide limit by
themselves: the standard error of the curve grows there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtrit

from monitor.drift.correlation import significant_correlation_time
from monitor.drift.hajek import Clusters, cluster_index
from monitor.records import FloatArray

HOUR = 3600.0
FIRST_LEVEL = 0.05
"""Level of the first harmonic's test. Missing a cycle costs false alarms, seeing one that is
not there only some delay: so it is not a strict test."""
SECOND_LEVEL = 0.01
"""The second harmonic widens the limit by half, so it has to earn its place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanCurve:
    """The fitted mean of a mapped signal over the hours of a day."""

    coefficients: tuple[float, ...]
    """b₀, then cosine and sine of each harmonic: 1, 3 or 5 numbers."""
    covariance: tuple[tuple[float, ...], ...]
    """Clustered by trace."""
    degrees: int
    """G − 1."""
    cycle_hours: float
    cycle_p: float
    """Wald p-value of the first harmonic."""
    correlation_time: float
    """τ of the residuals in their order of time; 1 where it is not more than chance."""
    average: float
    """Weighted mean over the reference records."""

    @property
    def harmonics(self) -> int:
        """0 where the day shows no cycle."""
        return (len(self.coefficients) - 1) // 2

    def mean(self, times: FloatArray) -> FloatArray:
        """Expected value at each time (n,), in seconds since the epoch."""
        design = _design(times, self.harmonics, self.cycle_hours)
        return np.asarray(design @ np.array(self.coefficients), dtype=np.float64)

    def margin(self, times: FloatArray, confidence: float) -> FloatArray:
        """Half-width (n,) of the one-sided limit of the mean: t · standard error · √τ."""
        design = _design(times, self.harmonics, self.cycle_hours)
        variance = np.einsum("ij,jk,ik->i", design, np.array(self.covariance), design)
        quantile = float(stdtrit(self.degrees, confidence) * np.sqrt(self.correlation_time))
        return np.asarray(quantile * np.sqrt(np.maximum(variance, 0.0)), dtype=np.float64)


def restore_curve(stored: Mapping[str, Any]) -> MeanCurve:
    """A curve from its fields, also after a round trip through JSON."""
    return MeanCurve(
        **{
            **stored,
            "coefficients": tuple(stored["coefficients"]),
            "covariance": tuple(tuple(row) for row in stored["covariance"]),
        }
    )


def fit_curve(
    values: FloatArray,
    times: FloatArray,
    weights: FloatArray,
    *,
    clusters: Clusters | None = None,
    cycle_hours: float = 24.0,
    least_correlation_time: float = 1.0,
) -> MeanCurve:
    """Fit the curve to mapped `values` (n,) at `times` (n,), choosing 0, 1 or 2 harmonics.

    `least_correlation_time` is a τ already known from another curve of the same records.
    """
    labels = cluster_index(clusters, len(values))
    fits = [
        clustered_regression(_design(times, order, cycle_hours), values, weights, labels)
        for order in range(3)
    ]
    degrees = int(labels.max())
    in_order = np.argsort(times, kind="stable")

    def tau(order: int) -> float:
        residuals = values - _design(times, order, cycle_hours) @ fits[order][0]
        return max(significant_correlation_time(residuals[in_order]), least_correlation_time)

    # Resemblance of neighbours looks like a cycle: the tests count records by what they are
    # worth, with τ from the fullest curve, so that a true cycle is not taken for resemblance.
    worth = tau(2)
    first = _wald(fits[1][0][1:3], fits[1][1][1:3, 1:3] * worth, degrees)
    second = _wald(fits[2][0][3:5], fits[2][1][3:5, 3:5] * worth, degrees)
    order = 2 if second < SECOND_LEVEL else int(first < FIRST_LEVEL)
    coefficients, covariance = fits[order]
    return MeanCurve(
        coefficients=tuple(coefficients.tolist()),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
        degrees=degrees,
        cycle_hours=cycle_hours,
        cycle_p=first,
        correlation_time=tau(order),
        average=float(weights @ values / weights.sum()),
    )


def clustered_regression(
    design: FloatArray, values: FloatArray, weights: FloatArray, labels: Clusters
) -> tuple[FloatArray, FloatArray]:
    """Weighted least squares: coefficients (p,) and their clustered covariance (p, p).

    `labels` (n,) are the cluster numbers 0 … G−1.
    """
    weighted = design * weights[:, None]
    bread = np.linalg.pinv(design.T @ weighted)
    coefficients = bread @ (weighted.T @ values)
    scores = weighted * (values - design @ coefficients)[:, None]
    groups = int(labels.max()) + 1
    sums = np.stack(
        [np.bincount(labels, weights=column, minlength=groups) for column in scores.T], axis=1
    )
    covariance = bread @ (sums.T @ sums) @ bread * (groups / max(groups - 1, 1))
    return coefficients, covariance


def _design(times: FloatArray, harmonics: int, cycle_hours: float) -> FloatArray:
    angle = 2 * np.pi * (times / HOUR % cycle_hours) / cycle_hours
    columns = [np.ones(len(times))]
    for order in range(1, harmonics + 1):
        columns += [np.cos(order * angle), np.sin(order * angle)]
    return np.stack(columns, axis=1)


def _wald(coefficients: FloatArray, covariance: FloatArray, degrees: int) -> float:
    """p-value of "all these coefficients are zero"; 1 for a signal without any variance."""
    if not covariance.any():
        return 1.0
    statistic = coefficients @ np.linalg.pinv(covariance) @ coefficients / len(coefficients)
    return float(fdtrc(len(coefficients), degrees, statistic))
