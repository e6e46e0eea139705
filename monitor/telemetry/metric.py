"""What a metric is declared by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UNIT_BUCKETS = tuple(n / 20 for n in range(1, 21))
"""For values in [0, 1]: steps of 0.05 keep a quantile's error under 0.05."""
DISTANCE_BUCKETS = (
    0.02,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    1.0,
    1.2,
    2.0,
)
SECONDS_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

STRATUM = ("service", "model", "category")


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """The declaration of one metric."""

    name: str
    kind: Literal["counter", "histogram", "gauge"]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    source: Literal["front", "sql"] = "front"
    """`front`: per record, by the front that took it in, so sums over replicas are right.
    `sql`: computed from the database, exported by the active evaluator only."""


def counter(name: str, help_: str, *labels: str) -> Metric:
    """A counter of the front."""
    return Metric(name=name, kind="counter", help=help_, labels=labels)


def histogram(name: str, help_: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    """A histogram of the front."""
    return Metric(name=name, kind="histogram", help=help_, labels=labels, buckets=buckets)


def gauge(name: str, help_: str, *labels: str) -> Metric:
    """A gauge that is computed from SQL."""
    return Metric(name=name, kind="gauge", help=help_, labels=labels, source="sql")
