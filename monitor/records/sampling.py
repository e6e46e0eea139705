"""Whether a record is scored, and how many records of its stratum it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from monitor.records.incoming import IncomingRecord


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Stratum:
    """What sampling is stratified by, as known on arrival."""

    service: str
    model: str
    category: str
    """Empty where no category is known on arrival."""


UNCOUNTED = Stratum(service="", model="", category="")
"""Stands for all strata that came in after so many others that they are counted together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplingEpoch:
    """The rates of one stretch of time; they depend on earlier stretches only."""

    number: int
    """1, 2, 3 …, shared by all replicas."""
    starts_at: datetime
    ends_at: datetime
    rates: Mapping[Stratum, float]
    """Inclusion probability by stratum, each at most `sampling.rate`."""
    default_rate: float
    """For a stratum that was not seen before."""

    def rate(self, stratum: Stratum) -> float:
        """The rate that applies to a stratum: its own, else that of the uncounted ones."""
        own = self.rates.get(stratum)
        return own if own is not None else self.rates.get(UNCOUNTED, self.default_rate)

    def expected(self, arrivals: Mapping[Stratum, int]) -> float:
        """How many of these arrivals are sampled on average: Σ count · rate."""
        return sum(count * self.rate(stratum) for stratum, count in arrivals.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplingDecision:
    """Whether a record is scored, and with which probability it was to be."""

    sampled: bool
    stratum: Stratum
    probability: float
    """π: own rate times the upstream probability; the weight of the record is 1/π."""
    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SampledRecord:
    """A record that is to be scored, with what estimates need to weight it."""

    record: IncomingRecord
    decision: SamplingDecision
    front: str
    """The instance that took it in, and so counts it."""
