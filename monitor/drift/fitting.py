"""Fitting a reference: mapping, slope on the achieved share, curves of level and spread.

`reference` says what the parts are, and why they are frozen.
"""

from __future__ import annotations

import numpy as np

from monitor.drift.cycle import HOUR, clustered_regression, fit_curve
from monitor.drift.hajek import (
    Clusters,
    check_finite,
    check_length,
    cluster_index,
    inverse,
)
from monitor.drift.reference import Insufficient, Lacking, Reference, without_share
from monitor.drift.signals import Scale, fit_mapper
from monitor.errors import MalformedInput
from monitor.records import FloatArray

SHARE_Z = 2.58
"""The slope on `share` enters only where it is significant (1 %)."""
SPREAD_QUANTILE = 0.99


def fit_reference(
    values: FloatArray,
    times: FloatArray,
    *,
    id: str,
    scale: Scale = Scale.UNIT,
    probabilities: FloatArray | None = None,
    clusters: Clusters | None = None,
    shares: FloatArray | None = None,
    delta: float = 0.02,
    confidence: float = 0.99,
    min_records: int = 200,
    cycle_hours: float = 24.0,
) -> Reference | Insufficient:
    """Freeze a reference from stored scores (n,) at `times` (n,), seconds since the epoch.

    `clusters` are trace ids, `shares` the mean achieved share of each record (only for
    signals that depend on perturbation). Raises `MalformedInput` for columns that do not
    fit together and for a δ outside (0, 0.5).
    """
    if not 0 < delta < 0.5:
        raise MalformedInput("delta", f"{delta!r} is not in (0, 0.5)", "use the default, 0.02")
    lacking = _lacking(values, times, min_records=min_records, cycle_hours=cycle_hours)
    if lacking is not None:
        return lacking
    weights = inverse(probabilities, len(values))
    mapper = fit_mapper(scale, values, weights)
    mapped = mapper.unit(values)
    labels = cluster_index(clusters, len(values))
    slope, average_share = _share_slope(mapped, shares, weights, labels)
    x = without_share(mapped, shares, slope, average_share)
    level = fit_curve(x, times, weights, clusters=labels, cycle_hours=cycle_hours)
    squares = (x - level.mean(times)) ** 2
    # A reference without any spread (a deterministic model's null distance): then every
    # deviation beyond δ is a full one.
    scale_of_spread = max(_weighted_quantile(squares, weights, SPREAD_QUANTILE), delta**2)
    spread = np.minimum(squares / scale_of_spread, 1.0)
    return Reference(
        id=id,
        mapper=mapper,
        level=level,
        # Squared deviations inherit the correlation, but show it less clearly.
        spread=fit_curve(
            spread,
            times,
            weights,
            clusters=labels,
            cycle_hours=cycle_hours,
            least_correlation_time=level.correlation_time,
        ),
        spread_scale=scale_of_spread,
        slope=slope,
        average_share=average_share,
        deviation=float(np.sqrt(weights @ squares / weights.sum())),
        mean=float(weights @ values / weights.sum()),
        least_probability=1 / float(weights.max()),
        records=len(values),
        clusters=int(labels.max()) + 1,
        since=float(times.min()),
        until=float(times.max()),
        confidence=confidence,
        delta=delta,
    )


def _lacking(
    values: FloatArray, times: FloatArray, *, min_records: int, cycle_hours: float
) -> Insufficient | None:
    if len(values) < min_records:
        return Insufficient(
            reason=Lacking.TOO_FEW_RECORDS,
            detail=f"{len(values)} reference records, it takes {min_records}",
        )
    check_finite("times", times)
    check_length("times", len(times), len(values))
    span = float(times.max() - times.min()) / HOUR
    if span < cycle_hours:
        return Insufficient(
            reason=Lacking.NO_FULL_CYCLE,
            detail=f"the reference spans {span:.1f} hours, it takes {cycle_hours:.0f}",
        )
    return None


def _share_slope(
    mapped: FloatArray, shares: FloatArray | None, weights: FloatArray, labels: Clusters
) -> tuple[float, float | None]:
    if shares is None:
        return 0.0, None
    check_length("shares", len(shares), len(mapped))
    check_finite("shares", shares)
    average = float(weights @ shares / weights.sum())
    design = np.stack([np.ones(len(mapped)), shares - average], axis=1)
    coefficients, covariance = clustered_regression(design, mapped, weights, labels)
    slope, error = float(coefficients[1]), float(np.sqrt(covariance[1, 1]))
    return (slope if abs(slope) > SHARE_Z * error else 0.0), average


def _weighted_quantile(values: FloatArray, weights: FloatArray, q: float) -> float:
    order = np.argsort(values)
    mass = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(mass, q)), len(values) - 1)])
