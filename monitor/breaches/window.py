"""The records of one window, or of a reference, as thresholds take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monitor.errors import MalformedInput
from monitor.records import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Records:
    """Records with this signal; those without a value are left out by the caller."""

    values: FloatArray
    """(n,)"""
    weights: FloatArray
    """(n,) 1/π, positive."""
    ids: tuple[str, ...]
    releases: tuple[str | None, ...] | None = None
    """Release of the service behind each record, where that is of interest."""

    def __post_init__(self) -> None:
        if not len(self.values) == len(self.weights) == len(self.ids):
            raise MalformedInput(
                "records",
                f"{len(self.values)} values, {len(self.weights)} weights, {len(self.ids)} ids",
                "hand in one of each a record",
            )
        if self.releases is not None and len(self.releases) != len(self.ids):
            raise MalformedInput(
                "records",
                f"{len(self.releases)} releases beside {len(self.ids)} ids",
                "hand in one a record, or none",
            )
        if not (np.isfinite(self.values).all() and (self.weights > 0).all()):
            raise MalformedInput(
                "records",
                "a value is not finite or a weight not positive",
                "leave out records without this signal; weights are 1/π",
            )

    def quantiles(self, wanted: Sequence[float]) -> dict[float, float]:
        """Their weighted quantiles; none of no records."""
        if len(self.values) == 0:
            return {}
        return {q: weighted_quantile(self.values, self.weights, q) for q in wanted}


def weighted_quantile(values: FloatArray, weights: FloatArray, q: float) -> float:
    """The least value at which the weights up to it reach q of all.

    >>> weighted_quantile(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0]), 0.5)
    3.0
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) >= q * weights.sum() * (1 - 1e-12)
    return float(values[order][int(np.argmax(reached))])
