"""Two groups of records, one signal: how far their weighted means lie apart.

With Hájek means μ̂₁, μ̂₂, their cluster-robust variances V₁, V₂ (`hajek`), and the correlation
times τ₁, τ₂ (records that resemble the ones before them are worth n/τ independent ones),

    d = μ̂₂ − μ̂₁,   se² = τ₁V₁ + τ₂V₂,   t = d / se,

against Student's t with Welch's degrees of freedom, se⁴ / Σ (τᵢVᵢ)²/(nᵢ/τᵢ − 1), where nᵢ is the
lesser of the number of traces and Kish's effective number of records.

Measured on pairs of groups without a difference, the share of p < 5 % is 4.5 to 6.2 % where
traces are independent (20 to 200 records a group, weights up to 20 : 1, traces of four
records) and 7 to 7.5 % on autocorrelated ones (AR(1), ρ up to 0.5); `pytest -m slow
tests/benchmarks/test_difference.py` repeats it. It is the level of *one* comparison: whoever
looks at many signals, or looks again every hour, will see such a p by chance. For that there
are corrected p-values (`correction`), and the e-detector.

Source: Welch, The generalization of Student's problem (1947).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from monitor.drift.correlation import significant_correlation_time
from monitor.drift.hajek import Clusters, Estimate, cluster_index, hajek_mean
from monitor.errors import MalformedInput
from monitor.records import FloatArray

LEVEL = 0.95
_ROUNDING = 1e-12
LEAST = 10
"""Traces that each group must have for an interval of the difference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupMean:
    """The weighted mean of one group."""

    value: float
    low: float | None
    """95 % interval, widened by √τ; `None` with fewer than two traces."""
    high: float | None
    records: int
    traces: int
    effective_records: float
    correlation_time: float
    """τ in traces; 1 without correlation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Second mean minus first mean."""

    first: GroupMean
    second: GroupMean
    value: float
    low: float | None
    """95 % interval; `None` with a reason."""
    high: float | None
    p: float | None
    """Two-sided; `None` with a reason."""
    reason: str | None
    """Why there is neither interval nor p: `too_few_records` or `no_spread`."""


def difference(
    first: FloatArray,
    second: FloatArray,
    *,
    first_probabilities: FloatArray | None = None,
    second_probabilities: FloatArray | None = None,
    first_traces: Clusters | None = None,
    second_traces: Clusters | None = None,
) -> Difference:
    """Compare the means of two groups, each in the order in which its records came in.

    Raises `MalformedInput` for an empty group, and what `hajek_mean` raises.

    >>> found = difference(np.array([0.1, 0.3] * 10), np.array([0.6, 0.8] * 10))
    >>> round(found.value, 3), found.p < 0.001
    (0.5, True)
    """
    for name, values in (("first", first), ("second", second)):
        if len(values) == 0:
            raise MalformedInput(name, "no records", "compare groups that have the signal")
    one = hajek_mean(first, probabilities=first_probabilities, clusters=first_traces, level=LEVEL)
    two = hajek_mean(
        second, probabilities=second_probabilities, clusters=second_traces, level=LEVEL
    )
    taus = _correlation_time(first, first_traces), _correlation_time(second, second_traces)
    means = _mean(one, taus[0]), _mean(two, taus[1])
    value = two.value - one.value
    low = high = p = None
    reason: str | None = None
    if one.std_error is None or two.std_error is None or min(one.clusters, two.clusters) < LEAST:
        reason = "too_few_records"
    else:
        errors = one.std_error * sqrt(taus[0]), two.std_error * sqrt(taus[1])
        error = hypot(*errors)
        if error <= _ROUNDING * max(1.0, abs(one.value), abs(two.value)):
            reason = "no_spread"
        else:
            degrees = _degrees(errors, (_worth(one, taus[0]), _worth(two, taus[1])))
            margin = float(stdtrit(degrees, 0.5 + LEVEL / 2)) * error
            low, high = value - margin, value + margin
            p = 2 * float(stdtr(degrees, -abs(value) / error))
    return Difference(
        first=means[0], second=means[1], value=value, low=low, high=high, p=p, reason=reason
    )


def _correlation_time(values: FloatArray, traces: Clusters | None) -> float:
    """τ of the traces in the order in which they began: what records of one trace have in
    common is in the variance already."""
    labels = cluster_index(traces, len(values))
    _, begins = np.unique(labels, return_index=True)
    means = np.bincount(labels, weights=values) / np.bincount(labels)
    return significant_correlation_time(means[np.argsort(begins)])


def _mean(estimate: Estimate, tau: float) -> GroupMean:
    margin = None
    if estimate.std_error is not None:
        degrees = max(_worth(estimate, tau) - 1, 1.0)
        margin = float(stdtrit(degrees, 0.5 + LEVEL / 2)) * estimate.std_error * sqrt(tau)
    return GroupMean(
        value=estimate.value,
        low=None if margin is None else estimate.value - margin,
        high=None if margin is None else estimate.value + margin,
        records=estimate.records,
        traces=estimate.clusters,
        effective_records=estimate.effective_records,
        correlation_time=tau,
    )


def _worth(estimate: Estimate, tau: float) -> float:
    """Independent records that a group is worth."""
    return min(float(estimate.clusters), estimate.effective_records) / tau


def _degrees(errors: tuple[float, float], worth: tuple[float, float]) -> float:
    parts = [error**4 / max(count - 1, 1.0) for error, count in zip(errors, worth, strict=True)]
    return float(np.sum(np.square(errors)) ** 2 / sum(parts))
