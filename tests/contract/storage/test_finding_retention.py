"""Findings are pruned by their own times, over both databases."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    DriftChange,
    Series,
    ThresholdState,
    WatchState,
)
from monitor.storage.breach_store import SqlBreachStore, breach_id
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database
from monitor.storage.integrity import check
from monitor.storage.lease import SqlEvaluatorLease
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.retention import prune
from monitor.storage.tables import records

UNDECIDED = Series(service="news", model="gemma", category="")


@pytest.fixture
def fill(queue: SqlRecordQueue, make_sampled: Any, make_result: Any) -> Any:
    """Take in and finish records with the given ages in days."""

    def run(ages: dict[str, float], **result: Any) -> None:
        for name, age in ages.items():
            queue.accept([make_sampled(name, seconds=-age * 86_400)])
            [leased] = queue.lease("w", count=1, seconds=60)
            queue.finish(leased.lease, make_result(name, **result))

    return run


def breached(
    clock: Any,
    number: int,
    resolved_at: datetime | None,
    series: Series = UNDECIDED,
) -> BreachDetail:
    """A breach of the threshold `t` that opened 100 days ago, with the record `old` in it."""
    row = BreachRow(
        id=breach_id("t", series, number),
        threshold="t",
        series=series,
        number=number,
        signal="hss",
        statistic="mean",
        comparison="above",
        severity="page",
        state="open" if resolved_at is None else "resolved",
        exceeded_since=clock.now - timedelta(days=100),
        opened_at=clock.now - timedelta(days=100),
        resolved_at=resolved_at,
        value=0.9,
        worst=0.9,
        limit=0.8,
        window_seconds=60.0,
        records=1,
        acknowledged_at=None,
        acknowledged_by=None,
        note=None,
    )
    contributor = BreachContributor(
        record_id="old",
        value=0.9,
        weight=2.0,
        place=1,
        release=None,
        mark=None,
        marked_by=None,
        marked_at=None,
    )
    return BreachDetail(breach=row, contributors=(contributor,))


def threshold_state(clock: Any, series: Series, threshold: str) -> ThresholdState:
    return ThresholdState(
        threshold=threshold,
        series=series,
        state="ok",
        number=1,
        value=0.1,
        limit=0.8,
        level=None,
        records=40,
        reason=None,
        evaluated_at=clock.now,
        stored={},
    )


def watched(series: Series) -> WatchState:
    return WatchState(series=series, signal="hss", reference_id="c", state={}, cursor=None)


def changed(series: Series, at: datetime) -> DriftChange:
    return DriftChange(
        series=series,
        signal="hss",
        before="stable",
        after="drifted",
        at=at,
        since=None,
        direction=None,
    )


def test_a_breach_outlives_its_records_until_its_own_time(
    database: Database, clock: Any, fill: Any
) -> None:
    """It is the history of a threshold; who contributed is told by its own rows."""
    fill({"old": 100})
    store, leases = SqlBreachStore(database, clock=clock), SqlEvaluatorLease(database, clock=clock)
    lease = leases.acquire("a", seconds=60)
    assert lease is not None
    ends = {1: clock.now - timedelta(days=91), 2: clock.now - timedelta(days=89), 3: None}
    store.save(lease, states=[], breaches=[breached(clock, *each) for each in ends.items()])
    report = prune(database, clock=clock, records_before=clock.now - timedelta(days=90))
    assert (report.records_deleted, report.breaches_deleted) == (1, 1)
    assert {row.number for row in store.list_breaches().rows} == {2, 3}
    assert {row.number for row in store.breaches_of("old")} == {2, 3}
    assert check(database).rows["breach_contributors"] == 2
    assert prune(database, clock=clock, records_before=clock.now).breaches_deleted == 1
    assert [row.number for row in store.breaches_of("old")] == [3], "an open one stays"
    leases.close()


def test_states_go_when_their_series_has_no_record_any_more(
    database: Database, clock: Any, fill: Any
) -> None:
    """Client-chosen names of models would pile up; but a number of a breach is never reused."""
    fill({"young": 1, "old": 100}, category=None)
    alive, gone = UNDECIDED, Series(service="news", model="x", category="")
    breaches, drift = SqlBreachStore(database, clock=clock), SqlDriftStore(database, clock=clock)
    leases = SqlEvaluatorLease(database, clock=clock)
    lease = leases.acquire("a", seconds=60)
    assert lease is not None
    with database.write() as connection:
        connection.execute(sa.update(records).values(category=None))
    drift.save(
        lease,
        states=[watched(series) for series in (alive, gone)],
        findings=[],
        changes=[changed(gone, clock.now - timedelta(days=age)) for age in (91, 89)],
    )
    numbered = [threshold_state(clock, series, "t") for series in (alive, gone)]
    loose = threshold_state(clock, gone, "without_a_breach")
    breaches.save(lease, states=[*numbered, loose], breaches=[breached(clock, 1, None, gone)])
    prune(database, clock=clock, records_before=clock.now - timedelta(days=90))
    assert [state.series for state in drift.watch_states()] == [alive]
    assert [change.at for change in drift.changes()] == [clock.now - timedelta(days=89)]
    assert breaches.threshold_states() == numbered
    leases.close()
