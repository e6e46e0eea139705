"""What a threshold is, and what one window of records says about it.

A threshold watches one stored signal of one stratum: a statistic of the records of a window,
weighted by 1/π (a record kept with probability 0.1 stands for ten),

    mean         Σ w x / Σ w
    quantile     the least x at which Σ_{x_i ≤ x} w_i reaches q Σ w
    share_above  Σ_{x_i > level} w_i / Σ w

against a limit that is a number or a quantile of the frozen reference records. Indicators
make the other cases: 0 and 1 for "this record was skipped" give the skipped share as a mean,
and a single value (minutes since the last score) with `min_records=1` gives staleness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from monitor.breaches.window import Records, weighted_quantile
from monitor.errors import ConfigurationError

CONTRIBUTORS = 10
ROUNDING = 1e-9
"""A mean of ones may come out as 0.9999999999999999, and 1 − 0.9 as less than 0.1: neither may
open a breach, or keep one from ending."""


class Statistic(StrEnum):
    MEAN = "mean"
    QUANTILE = "quantile"
    SHARE_ABOVE = "share_above"


class Comparison(StrEnum):
    """On which side of the limit it is bad."""

    ABOVE = "above"
    BELOW = "below"


class NoAnswer(StrEnum):
    """Why a window says nothing about a threshold."""

    TOO_FEW_RECORDS = "too_few_records"
    NO_REFERENCE = "no_reference"
    """The threshold is a quantile of a reference that does not exist, or whose records are gone."""
    NOT_WATCHED = "not_watched"
    """The threshold was taken out or became another one, or the series is gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A number, or the number below which a share of the reference records lies."""

    value: float | None = None
    """`None` for a quantile whose number is not known."""
    reference_quantile: float | None = None
    at_least: float | None = None
    """With a quantile: never a smaller number than this. A signal that is 0 all over the
    reference would otherwise have a limit that every record exceeds."""

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reference_quantile is None):
            raise ConfigurationError(
                f"limit: value={self.value!r}, reference_quantile={self.reference_quantile!r}; "
                "set exactly one of them"
            )
        q = self.reference_quantile
        if q is not None and not 0 < q < 1:
            raise ConfigurationError(f"limit.reference_quantile: {q!r} is not in (0, 1)")
        if self.at_least is not None and q is None:
            raise ConfigurationError(
                f"limit.at_least: {self.at_least!r} beside a value; it goes with reference_quantile"
            )

    def fixed(self, numbers: Mapping[float, float]) -> Bound:
        """The same bound as a number, where `numbers` has the one of its quantile.

        >>> Bound(reference_quantile=0.9, at_least=0.1).fixed({0.9: 0.05}).value
        0.1
        """
        q = self.reference_quantile
        if q is None or q not in numbers:
            return self
        found = numbers[q]
        return Bound(value=found if self.at_least is None else max(found, self.at_least))


@dataclass(frozen=True, kw_only=True, slots=True)
class Threshold:
    """One threshold, as the configuration defines it."""

    name: str
    signal: str
    """Any stored signal."""
    limit: Bound
    statistic: Statistic = Statistic.MEAN
    comparison: Comparison = Comparison.ABOVE
    quantile: float | None = None
    """q of the statistic `quantile`."""
    level: Bound | None = None
    """Of the statistic `share_above`: which records count."""
    window: float = 3600.0
    """Seconds of records behind the moment of evaluation."""
    min_records: int = 30
    """Fewer give no answer."""
    hold: float = 300.0
    """Seconds for which it has to be exceeded before a breach opens."""
    margin: float = 0.0
    """Hysteresis, in units of the statistic: how far on the good side of the limit the
    statistic has to be before an open breach may end …"""
    calm: float = 600.0
    """… and for how many seconds."""

    def __post_init__(self) -> None:
        needs = {
            "quantile": (self.quantile, self.statistic is Statistic.QUANTILE),
            "level": (self.level, self.statistic is Statistic.SHARE_ABOVE),
        }
        for field, (given, needed) in needs.items():
            if (given is not None) != needed:
                raise ConfigurationError(
                    f"thresholds.{self.name}.{field}: {given!r} with statistic "
                    f"{self.statistic.value!r}; {'set it' if needed else 'leave it out'}"
                )
        if self.quantile is not None and not 0 < self.quantile < 1:
            raise ConfigurationError(
                f"thresholds.{self.name}.quantile: {self.quantile!r} is not in (0, 1)"
            )
        for field, number, least in (
            ("window", self.window, 1.0),
            ("min_records", self.min_records, 1),
            ("hold", self.hold, 0.0),
            ("margin", self.margin, 0.0),
            ("calm", self.calm, 0.0),
        ):
            if not number >= least:
                raise ConfigurationError(
                    f"thresholds.{self.name}.{field}: {number!r}; set at least {least:g}"
                )

    @property
    def quantiles(self) -> tuple[float, ...]:
        """Which quantiles of the reference its bounds are; empty where they are numbers."""
        bounds = (self.limit, self.level)
        found = (None if bound is None else bound.reference_quantile for bound in bounds)
        return tuple(dict.fromkeys(q for q in found if q is not None))

    @property
    def needs_reference(self) -> bool:
        """Whether it can be judged only against a reference."""
        return bool(self.quantiles)

    def fixed(self, numbers: Mapping[float, float]) -> Threshold:
        """The same threshold with numbers for its bounds, as far as `numbers` has them."""
        level = None if self.level is None else self.level.fixed(numbers)
        return replace(self, limit=self.limit.fixed(numbers), level=level)

    def against(self, reference: Records | None) -> Threshold:
        """The same threshold with its bounds as numbers, as far as `reference` gives them."""
        return self.fixed({} if reference is None else reference.quantiles(self.quantiles))


@dataclass(frozen=True, kw_only=True, slots=True)
class Contributor:
    """A record that helped to exceed the limit."""

    record_id: str
    value: float
    weight: float
    release: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """What one window says about one threshold."""

    value: float | None
    """The statistic; `None` with a reason."""
    limit: float | None
    level: float | None
    """Of `share_above`; `None` for other statistics, or with a reason."""
    records: int
    exceeded: bool
    """On the bad side of the limit."""
    calm: bool
    """On the good side by at least the margin. Neither, between the two."""
    reason: NoAnswer | None
    contributors: tuple[Contributor, ...]
    """Most contribution first; empty unless exceeded."""


def evaluate(threshold: Threshold, window: Records) -> Evaluation:
    """Judge the records of one window; no answer while a bound is no number (see `fixed`)."""
    count = len(window.values)
    limit = threshold.limit.value
    level = None if threshold.level is None else threshold.level.value
    if count < threshold.min_records:
        return _no_answer(NoAnswer.TOO_FEW_RECORDS, limit, level, count)
    if limit is None or (threshold.level is not None and level is None):
        return _no_answer(NoAnswer.NO_REFERENCE, limit, level, count)
    value = _statistic(threshold, window, level)
    sign = 1.0 if threshold.comparison is Comparison.ABOVE else -1.0
    excess = sign * (value - limit)
    exceeded = excess > ROUNDING
    return Evaluation(
        value=value,
        limit=limit,
        level=level,
        records=count,
        exceeded=exceeded,
        calm=excess <= ROUNDING - threshold.margin,
        reason=None,
        contributors=_contributors(window, limit, level, sign) if exceeded else (),
    )


def _statistic(threshold: Threshold, window: Records, level: float | None) -> float:
    if threshold.statistic is Statistic.QUANTILE and threshold.quantile is not None:
        return weighted_quantile(window.values, window.weights, threshold.quantile)
    values = window.values if level is None else (window.values > level).astype(np.float64)
    return float(window.weights @ values / window.weights.sum())


def _contributors(
    window: Records, limit: float, level: float | None, sign: float
) -> tuple[Contributor, ...]:
    """By w·(x − limit), the part of each record in the excess of the mean; for a share by
    w·(x − level), so that the worst of the records that count come first."""
    parts = sign * window.weights * (window.values - (limit if level is None else level))
    worst = [int(index) for index in np.argsort(-parts, kind="stable")[:CONTRIBUTORS]]
    return tuple(
        Contributor(
            record_id=window.ids[index],
            value=float(window.values[index]),
            weight=float(window.weights[index]),
            release=None if window.releases is None else window.releases[index],
        )
        for index in worst
        if parts[index] > 0
    )


def _no_answer(
    reason: NoAnswer, limit: float | None, level: float | None, count: int
) -> Evaluation:
    return Evaluation(
        value=None,
        limit=limit,
        level=level,
        records=count,
        exceeded=False,
        calm=False,
        reason=reason,
        contributors=(),
    )
