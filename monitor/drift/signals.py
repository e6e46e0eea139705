"""How each stored signal becomes a number in [0, 1], the range that a bet needs.

The e-detector is valid for *bounded* signals, and only with a bound that holds before the
record is seen. Distances have one (W₁ of unit vectors is at most 2). Lengths have none, so a
length is replaced by its rank in the reference: 0.5 is its median, and a change of scale
of the lengths cannot change the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from monitor.drift.hajek import check_finite
from monitor.errors import MalformedInput
from monitor.records import FloatArray

MAX_KNOTS = 256
"""A rank scale is stored with its reference; more knots than that resolve nothing."""


class Scale(StrEnum):
    """The kind of a signal's range."""

    UNIT = "unit"
    """[0, 1] as it is."""
    DISTANCE = "distance"
    """[0, 2], halved."""
    DIFFERENCE = "difference"
    """[−2, 2], a difference of distances: (x + 2)/4."""
    RANK = "rank"
    """Any number: its place in the reference distribution."""


SIGNALS: Mapping[str, Scale] = MappingProxyType(
    {
        "hss": Scale.UNIT,
        "raw_distance": Scale.DISTANCE,
        "excess": Scale.DIFFERENCE,
        "null_distance": Scale.DISTANCE,
        "shap_instability": Scale.UNIT,
        "entity_support": Scale.UNIT,
        "summary_words": Scale.RANK,
        "document_words": Scale.RANK,
    }
)
"""The watched signals, named as they are stored."""

REWORDED = frozenset({"hss", "raw_distance", "excess", "shap_instability"})
"""Signals that grow with the share of words that were replaced: adjusted for it."""

_RANGES: Mapping[Scale, tuple[float, float]] = MappingProxyType(
    {Scale.UNIT: (0.0, 1.0), Scale.DISTANCE: (0.0, 2.0), Scale.DIFFERENCE: (-2.0, 2.0)}
)
_ROUNDING = 1e-9
"""Distances of unit vectors may leave their range by rounding; more is a mistake."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mapper:
    """A frozen map of one signal to [0, 1]."""

    scale: Scale
    knots: tuple[float, ...] = ()
    """`RANK` only: ascending reference values …"""
    ranks: tuple[float, ...] = ()
    """… and their mid-ranks F(x⁻)/2 + F(x)/2, weighted by 1/π."""

    @property
    def width(self) -> float:
        """How much of the signal's own unit one unit of the mapped signal is; 1 for a rank.

        >>> Mapper(scale=Scale.DISTANCE).width
        2.0
        """
        low, high = _RANGES.get(self.scale, (0.0, 1.0))
        return high - low

    def unit(self, values: FloatArray) -> FloatArray:
        """Map `values` (n,) to [0, 1]; raises `MalformedInput` for one outside its range.

        >>> Mapper(scale=Scale.DISTANCE).unit(np.array([0.0, 0.5, 2.0]))
        array([0.  , 0.25, 1.  ])
        """
        check_finite("values", values)
        if self.scale is Scale.RANK:
            # Beyond all of the reference: clearly 0 or 1, so that a new extreme counts fully.
            return np.interp(values, self.knots, self.ranks, left=0.0, right=1.0)
        low, high = _RANGES[self.scale]
        outside = (values < low - _ROUNDING) | (values > high + _ROUNDING)
        if outside.any():
            raise MalformedInput(
                "values",
                f"{float(values[outside][0])!r} lies outside [{low}, {high}]",
                f"hand in a signal of scale {self.scale.value!r}, or name another scale",
            )
        return np.clip((values - low) / (high - low), 0.0, 1.0)


def restore_mapper(stored: Mapping[str, Any]) -> Mapper:
    """A mapper from its fields, also after a round trip through JSON."""
    return Mapper(
        scale=Scale(stored["scale"]), knots=tuple(stored["knots"]), ranks=tuple(stored["ranks"])
    )


def fit_mapper(scale: Scale, values: FloatArray, weights: FloatArray) -> Mapper:
    """The map of a signal, from its reference values (n,) with weights (n,).

    >>> mapper = fit_mapper(Scale.RANK, np.array([10.0, 20.0, 20.0, 30.0]), np.ones(4))
    >>> mapper.unit(np.array([5.0, 10.0, 20.0, 31.0]))
    array([0.   , 0.125, 0.5  , 1.   ])
    """
    if scale is not Scale.RANK:
        return Mapper(scale=scale)
    check_finite("values", values)
    knots, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weights=weights) / weights.sum()
    ranks = np.cumsum(mass) - mass / 2
    if len(knots) > MAX_KNOTS:
        keep = np.unique(np.linspace(0, len(knots) - 1, MAX_KNOTS).round().astype(np.intp))
        knots, ranks = knots[keep], ranks[keep]
    return Mapper(scale=scale, knots=tuple(knots.tolist()), ranks=tuple(ranks.tolist()))
