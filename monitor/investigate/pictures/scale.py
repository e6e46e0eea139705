"""Positions on an axis, and round numbers to write beside it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """A straight map from values to coordinates; what lies outside is put on its end."""

    low: float
    high: float
    start: float
    """Coordinate of `low`."""
    end: float
    """Coordinate of `high`."""

    def at(self, value: float) -> float:
        """
        >>> Axis(low=0.0, high=2.0, start=10.0, end=30.0).at(0.5)
        15.0
        """
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """At most about `count` round numbers within the axis.

        >>> Axis(low=0.0, high=1.0, start=0, end=1).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        step = round_step((self.high - self.low) / count)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [round(index * step, 10) for index in range(first, last + 1)]


def tick_label(value: float) -> str:
    """
    >>> tick_label(0.2), tick_label(0.0), tick_label(1250.0)
    ('0.2', '0', '1250')
    """
    return f"{value:.6g}"


def round_step(rough: float) -> float:
    """The least of 1, 2, 5, 10, 20, … (and of 0.5, 0.2, …) that is not below `rough`.

    >>> round_step(3.1), round_step(0.02)
    (5.0, 0.02)
    """
    power = 10.0 ** floor(log10(rough))
    for factor in (1.0, 2.0, 5.0):
        if rough <= factor * power * 1.0001:
            return factor * power
    return 10.0 * power
