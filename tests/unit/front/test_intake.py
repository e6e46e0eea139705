"""The intake: what it counts, stores and refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prometheus_client import CollectorRegistry

from monitor.errors import DatabaseUnavailable, Overloaded
from monitor.intake import ArrivalCount, QueueingIntake
from monitor.labels import LabelPolicy
from monitor.ports import Arrival
from monitor.records import (
    UNCOUNTED,
    IncomingRecord,
    Reason,
    SampledRecord,
    SamplingDecision,
    Stratum,
)
from monitor.telemetry import Telemetry

RECORD = IncomingRecord(
    id="keep-1",
    document="d",
    summary="s",
    service="news",
    model="m",
    received_at=datetime(2026, 1, 1, tzinfo=UTC),
)


class Half:
    """Samples the ids that begin with `keep`."""

    def decide(self, record: IncomingRecord) -> SamplingDecision:
        return SamplingDecision(
            sampled=record.id.startswith("keep"),
            stratum=Stratum(service=record.service, model=record.model, category=""),
            probability=0.5,
            epoch=3,
        )


class Queue:
    def __init__(self) -> None:
        self.seen: dict[str, SampledRecord] = {}
        self.broken = False

    def accept(self, records: Sequence[SampledRecord]) -> list[bool]:
        if self.broken:
            raise DatabaseUnavailable
        fresh = [item.record.id not in self.seen for item in records]
        self.seen |= {item.record.id: item for item in records}
        return fresh


class Bench:
    def __init__(self, waiting: int = 0) -> None:
        self.telemetry = Telemetry(
            CollectorRegistry(), LabelPolicy(services=["news"], models=["m"], categories=[])
        )
        self.queue = Queue()
        self.arrivals: list[tuple[int, Stratum]] = []
        self.intake = QueueingIntake(
            sampler=Half(),
            queue=self.queue,  # type: ignore[arg-type] # accept() is all that intake uses
            category=lambda record: "law",
            telemetry=self.telemetry,
            front="f",
            arrived=lambda epoch, stratum: self.arrivals.append((epoch, stratum)),
            backlog=lambda: waiting,
            backlog_limit=10,
        )

    def value(self, name: str, labels: dict[str, str] | None = None) -> float | None:
        return self.telemetry.registry.get_sample_value(name, labels or {})


NEWS = {"service": "news", "model": "m"}


def test_only_sampled_records_are_queued_but_all_are_counted() -> None:
    """`received` is the traffic, `sampled` what will be scored."""
    bench = Bench()
    taken = bench.intake.take_now([RECORD, replace(RECORD, id="drop-1")])
    assert taken == [True, False]
    assert list(bench.queue.seen) == ["keep-1"]
    assert bench.value("hss_records_received_total", NEWS) == 2
    assert bench.value("hss_records_sampled_total", NEWS) == 1


def test_the_category_is_decided_before_sampling() -> None:
    """Strata use what is known on arrival, and so does the queue."""
    bench = Bench()
    bench.intake.take_now([RECORD])
    assert bench.queue.seen["keep-1"].record.category == "law"


def test_a_retry_is_counted_once() -> None:
    """An exporter that did not hear our answer sends again."""
    bench = Bench()
    bench.intake.take_now([RECORD])
    assert bench.intake.take_now([RECORD]) == [True]
    assert bench.intake.arrivals([RECORD]) == [Arrival.KNOWN]
    assert bench.value("hss_records_received_total", NEWS) == 1
    assert len(bench.arrivals) == 1


def test_a_broken_database_counts_nothing() -> None:
    """All or nothing: the sender will send all of it again."""
    bench = Bench()
    bench.queue.broken = True
    with pytest.raises(DatabaseUnavailable):
        bench.intake.take_now([RECORD, replace(RECORD, id="drop-1")])
    assert bench.value("hss_records_received_total", NEWS) is None


def test_a_full_backlog_is_refused_with_the_key_to_change() -> None:
    """A queue without an end would fill the disk."""
    bench = Bench(waiting=10)
    with pytest.raises(Overloaded, match=r"http\.backlog_limit"):
        bench.intake.take_now([RECORD])
    assert bench.queue.seen == {}


def test_dropped_traffic_is_counted_by_reason() -> None:
    """Nothing disappears without a trace."""
    bench = Bench()
    bench.intake.skipped(Reason.CONTENT_MISSING, 2)
    bench.intake.replay_ignored()
    assert bench.value("hss_records_skipped_total", {"reason": "content_missing"}) == 2
    assert bench.value("hss_replays_ignored_total") == 1


def test_strata_beyond_the_limit_are_counted_together() -> None:
    """A client that invents a service name for every call must not fill the database."""
    arrived = ArrivalCount(most=2)
    for service in ("a", "b", "c", "a", "d"):
        arrived(7, Stratum(service=service, model="m", category=""))
    arrived(8, Stratum(service="c", model="m", category=""))
    named = {service: Stratum(service=service, model="m", category="") for service in "abc"}
    assert arrived.take() == {
        7: {named["a"]: 2, named["b"]: 1, UNCOUNTED: 2},
        8: {named["c"]: 1},
    }
