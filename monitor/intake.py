"""Between ingest and the queue: count, categorize, sample, store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from monitor.errors import Overloaded
from monitor.ports import Arrival, RecordQueue, Sampler
from monitor.records import UNCOUNTED, IncomingRecord, Reason, SampledRecord, Stratum
from monitor.telemetry import Telemetry

MAX_STRATA = 500
"""Strata that one front counts apart in an epoch. Service and model names come from clients: one
that invents a name for every call must not fill the database with rows of one arrival."""


class ArrivalCount:
    """What arrived, sampled or not, by epoch and stratum, until somebody takes it.

    Strata beyond the first `most` of an epoch are counted together as `UNCOUNTED`.
    """

    def __init__(self, most: int = MAX_STRATA) -> None:
        self._counts: Counter[tuple[int, Stratum]] = Counter()
        self._most = most
        self._epoch = 0
        self._known: set[Stratum] = set()
        self._lock = Lock()

    def __call__(self, epoch: int, stratum: Stratum) -> None:
        """One record arrived while `epoch` applied."""
        with self._lock:
            if epoch != self._epoch:
                self._epoch, self._known = epoch, set()
            if stratum not in self._known and len(self._known) >= self._most:
                stratum = UNCOUNTED
            else:
                self._known.add(stratum)
            self._counts[epoch, stratum] += 1

    def take(self) -> Mapping[int, Mapping[Stratum, int]]:
        """Arrivals by epoch since the last call; each is handed out once."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        epochs: dict[int, dict[Stratum, int]] = {}
        for (epoch, stratum), number in taken.items():
            epochs.setdefault(epoch, {})[stratum] = number
        return epochs


class QueueingIntake:
    """`ports.Intake` over a durable queue.

    Counting follows the queue: a record that was known already (a client's retry) counts
    neither as received nor as sampled. `arrived(epoch, stratum)` is told of every record, as
    later sampling rates depend on what came in. `backlog` tells how many records wait; above
    `backlog_limit` the intake answers `Overloaded` and takes nothing.
    """

    def __init__(
        self,
        *,
        sampler: Sampler,
        queue: RecordQueue,
        category: Callable[[IncomingRecord], str | None],
        telemetry: Telemetry,
        front: str,
        arrived: Callable[[int, Stratum], None],
        backlog: Callable[[], int],
        backlog_limit: int,
    ) -> None:
        self._sampler = sampler
        self._queue = queue
        self._category = category
        self._telemetry = telemetry
        self._front = front
        self._backlog = backlog
        self._arrived = arrived
        self._backlog_limit = backlog_limit

    async def take(self, records: Sequence[IncomingRecord]) -> list[bool]:
        return await asyncio.to_thread(self.take_now, records)

    def take_now(self, records: Sequence[IncomingRecord]) -> list[bool]:
        """The same, for callers without an event loop."""
        return [arrival is not Arrival.LEFT_OUT for arrival in self.arrivals(records)]

    def arrivals(self, records: Sequence[IncomingRecord]) -> list[Arrival]:
        """The same, with what was known already told apart."""
        if not records:
            return []
        if self._backlog() >= self._backlog_limit:
            raise Overloaded(
                f"{self._backlog_limit} records wait to be scored (http.backlog_limit); "
                "lower sampling.rate or add scorers"
            )
        sorted_in = [replace(record, category=self._category(record)) for record in records]
        decisions = [self._sampler.decide(record) for record in sorted_in]
        sampled = [
            SampledRecord(record=record, decision=decision, front=self._front)
            for record, decision in zip(sorted_in, decisions, strict=True)
            if decision.sampled
        ]
        fresh = iter(self._queue.accept(sampled) if sampled else [])
        arrivals = []
        for record, decision in zip(sorted_in, decisions, strict=True):
            arrivals.append(_arrival(decision.sampled, fresh))
            if arrivals[-1] is Arrival.KNOWN:
                continue
            labels = self._telemetry.labels
            service, model = labels.service(record.service), labels.model(record.model)
            self._telemetry.count("hss_records_received_total", service, model)
            if decision.sampled:
                self._telemetry.count("hss_records_sampled_total", service, model)
            self._arrived(decision.epoch, decision.stratum)
        return arrivals

    def skipped(self, reason: Reason, count: int = 1) -> None:
        self._telemetry.count("hss_records_skipped_total", reason.value, by=count)

    def replay_ignored(self, count: int = 1) -> None:
        self._telemetry.count("hss_replays_ignored_total", by=count)


def _arrival(sampled: bool, fresh: Iterator[bool]) -> Arrival:
    if not sampled:
        return Arrival.LEFT_OUT
    return Arrival.QUEUED if next(fresh) else Arrival.KNOWN
