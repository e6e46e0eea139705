"""The rate of each stratum: from past arrivals and a scoring budget, in numbered epochs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from monitor.errors import ConfigurationError
from monitor.ports import Clock, EpochStore
from monitor.records import SamplingEpoch, Stratum
from monitor.sampling.allocation import rates

log = structlog.get_logger(__name__)

FIRST_EPOCH = timedelta(minutes=5)
"""Nothing is known in the first epoch, so it samples at the ceiling: keep that mistake short."""
MEMORY = 3
"""Past epochs looked at. Each stratum counts with its busiest one: the budget is a promise
not to exceed it, and an average would break it whenever traffic rises."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetPolicy:
    """What the rates of an epoch obey."""

    ceiling: float = 1.0
    """`sampling.rate`: no stratum is sampled above it; in (0, 1]."""
    records_per_hour: float | None = None
    """Records that may be sampled in an hour over all strata; `None` is no limit."""
    minimum_share: float = 0.2
    """Share of the budget that is split evenly first, so that rare strata are seen."""
    epoch_length: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        checks = (
            ("sampling.rate", self.ceiling, 0.0 < self.ceiling <= 1.0, "in (0, 1]"),
            (
                "sampling.budget.records_per_hour",
                self.records_per_hour,
                self.records_per_hour is None or self.records_per_hour > 0.0,
                "above 0, or null for no limit",
            ),
            (
                "sampling.budget.minimum_share",
                self.minimum_share,
                0 <= self.minimum_share <= 1,
                "in [0, 1]",
            ),
            (
                "sampling.budget.epoch_seconds",
                self.epoch_length,
                self.epoch_length > timedelta(0),
                "above 0",
            ),
        )
        for name, value, valid, wanted in checks:
            if not valid:
                raise ConfigurationError(f"{name}: {value!r}; set it {wanted}")


def first_epoch(policy: BudgetPolicy, now: datetime) -> SamplingEpoch:
    """Epoch 1: every stratum at the ceiling, for at most five minutes."""
    return SamplingEpoch(
        number=1,
        starts_at=now,
        ends_at=now + min(policy.epoch_length, FIRST_EPOCH),
        rates={},
        default_rate=policy.ceiling,
    )


def next_epoch(
    previous: SamplingEpoch,
    history: Sequence[Mapping[Stratum, float]],
    policy: BudgetPolicy,
    now: datetime,
) -> SamplingEpoch:
    """The epoch after `previous`, a pure function of the past.

    `history` holds the hourly arrivals of each stratum in past epochs. A stratum that was
    not seen gets budget / all arrivals, at most the ceiling: the usual newcomer is a new
    model release that takes over all the traffic, and even then the budget holds. Where
    nothing at all arrived nothing was learned, and the previous rates stay.
    """
    hourly: dict[Stratum, float] = {}
    for epoch in history:
        for stratum, arrivals in epoch.items():
            hourly[stratum] = max(hourly.get(stratum, 0.0), arrivals)
    hourly = {stratum: arrivals for stratum, arrivals in sorted(hourly.items()) if arrivals > 0}
    chosen, default = previous.rates, previous.default_rate
    if hourly:
        chosen, default = dict.fromkeys(hourly, policy.ceiling), policy.ceiling
        if policy.records_per_hour is not None:
            chosen = rates(
                hourly,
                budget=policy.records_per_hour,
                ceiling=policy.ceiling,
                minimum_share=policy.minimum_share,
            )
            default = min(policy.ceiling, policy.records_per_hour / sum(hourly.values()))
    return SamplingEpoch(
        number=previous.number + 1,
        starts_at=now,
        ends_at=now + policy.epoch_length,
        rates=chosen,
        default_rate=default,
    )


def capped(epoch: SamplingEpoch, ceiling: float) -> SamplingEpoch:
    """The epoch with no rate above `ceiling`."""
    return replace(
        epoch,
        rates={stratum: min(rate, ceiling) for stratum, rate in epoch.rates.items()},
        default_rate=min(epoch.default_rate, ceiling),
    )


class EpochBook:
    """This front's view of the epochs that all replicas share.

    Replicas agree through the store alone: whoever appends number n first decides its
    rates, the others read them. An epoch ends by the wall clock, which they share; where that was
    set back it would go on for hours, so it also ends when it has lasted for twice its length.
    Called from one job at a time.
    """

    def __init__(
        self,
        *,
        store: EpochStore,
        front: str,
        policy: BudgetPolicy,
        clock: Clock,
        arrivals: Callable[[], Mapping[int, Mapping[Stratum, int]]],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`arrivals` hands out, once, what this front received by epoch since the last call."""
        self._store = store
        self._front = front
        self._policy = policy
        self._clock = clock
        self._arrivals = arrivals
        self._unsaved: dict[int, Mapping[Stratum, int]] = {}
        self._monotonic = monotonic
        self._seen: tuple[int, float] | None = None
        """The latest epoch, and when it was first met."""

    def flush(self) -> None:
        """Add this front's arrivals to the store; what it did not take is kept for later."""
        for epoch, counts in self._arrivals().items():
            waiting = self._unsaved.get(epoch, {})
            self._unsaved[epoch] = {
                stratum: waiting.get(stratum, 0) + counts.get(stratum, 0)
                for stratum in {**waiting, **counts}
            }
        for epoch in sorted(self._unsaved):
            self._store.add_arrivals(epoch, self._front, self._unsaved[epoch])
            del self._unsaved[epoch]

    def advance(self) -> SamplingEpoch:
        """The epoch that applies now; opens the next one where the latest has ended.

        Its rates are never above the ceiling, also where the epoch was opened under a higher one:
        a rate that was lowered applies from the restart on, not from the next epoch.
        Flushes first, so that the own arrivals count. Raises what the store raises; the
        previous epoch stays valid then.
        """
        return capped(self._current(), self._policy.ceiling)

    def _current(self) -> SamplingEpoch:
        self.flush()
        latest = self._store.latest()
        now = self._clock()
        if latest is not None and now < latest.ends_at and not self._overdue(latest):
            return latest
        if latest is None:
            proposal = first_epoch(self._policy, now)
        else:
            proposal = next_epoch(latest, self._history(latest), self._policy, now)
        if self._store.open(proposal):
            log.info(
                "sampling_epoch_opened",
                epoch=proposal.number,
                strata=len(proposal.rates),
                default_rate=round(proposal.default_rate, 6),
            )
            return proposal
        # Another replica was first; what it appended is there now.
        return self._store.latest() or proposal

    def _overdue(self, epoch: SamplingEpoch) -> bool:
        now = self._monotonic()
        if self._seen is None or self._seen[0] != epoch.number:
            self._seen = epoch.number, now
        length = (epoch.ends_at - epoch.starts_at).total_seconds()
        return now - self._seen[1] >= 2 * length

    def _history(self, latest: SamplingEpoch) -> list[dict[Stratum, float]]:
        numbers = range(max(1, latest.number - MEMORY + 1), latest.number + 1)
        return [
            {
                stratum: arrivals / _hours(number, latest)
                for stratum, arrivals in self._store.arrivals(number).items()
            }
            for number in numbers
        ]


def _hours(number: int, latest: SamplingEpoch) -> float:
    """The planned length of an epoch, as far as the latest one tells it: it may have been opened
    under another configuration. An epoch that ran over looks busier than it was, which errs on
    the side of the budget."""
    length = latest.ends_at - latest.starts_at
    if number == 1:
        length = min(length, FIRST_EPOCH)
    return length / timedelta(hours=1)
