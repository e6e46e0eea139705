"""Counting, calibration and re-normalization, over both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.errors import UsageError
from monitor.records import (
    Calibration,
    Normalizer,
    Reason,
    RecordState,
    SamplingEpoch,
    Severity,
    Stratum,
    Strength,
)
from monitor.storage.calibrations import SqlCalibrationStore
from monitor.storage.detail import record_detail
from monitor.storage.engine import Database
from monitor.storage.epochs import SharedFacts, SqlEpochStore
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.reference_documents import ReferenceWindow
from monitor.storage.repository import Repository
from monitor.storage.shared_tables import calibrations


@pytest.fixture
def repository(database: Database, clock: Any) -> Repository:
    return Repository(database, clock=clock)


@pytest.fixture
def finish(queue: SqlRecordQueue, make_sampled: Any, make_result: Any, clock: Any) -> Any:
    """Take a record in and finish it; `record` and `result` are what differs."""

    def run(record_id: str, *, record: Any = None, result: Any = None) -> None:
        queue.accept([make_sampled(record_id, **(record or {}))])
        clock.advance(1)
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record_id, **(result or {})))

    return run


def test_every_final_record_is_counted_once_by_its_own_front(
    repository: Repository, finish: Any, database: Database, clock: Any
) -> None:
    """`sum()` over replicas must be right, also after one of them restarted."""
    finish("a1")
    finish("b1", record={"front": "front-b"})
    finish("a2", result={"state": RecordState.SKIPPED, "reason": Reason.TOO_LONG})
    assert [row.id for row in repository.take_unobserved("front-a", limit=1)] == ["a1"]
    restarted = Repository(database, clock=clock)
    [row] = restarted.take_unobserved("front-a")
    assert (row.id, row.state, row.reason) == ("a2", RecordState.SKIPPED, Reason.TOO_LONG)
    assert restarted.take_unobserved("front-a") == []
    assert [row.id for row in restarted.take_unobserved("front-b")] == ["b1"]


def test_a_counted_record_brings_what_the_metrics_need(repository: Repository, finish: Any) -> None:
    """Histograms are fed from here and nowhere else."""
    finish("a1", record={"probability": 0.25})
    [row] = repository.take_unobserved("front-a")
    assert (row.service, row.model, row.category) == ("news", "gemma", "politics")
    assert (row.hss, row.raw_distance, row.null_distance, row.excess) == (0.25, 0.2, 0.05, 0.15)
    assert (row.entity_support, row.number_support) == (0.5, None)
    assert list(row.stage_seconds.items()) == [("perturb", 0.25), ("summarize", 1.5)]
    assert (row.core_seconds, row.probability) == (2.5, 0.25)


def test_a_record_that_no_scorer_finished_is_counted_too(
    repository: Repository, queue: SqlRecordQueue, make_sampled: Any, clock: Any
) -> None:
    """Failures by exhausted attempts have no score row, but they are failures."""
    queue.accept([make_sampled()])
    for _ in range(3):
        queue.lease("w", count=1, seconds=1)
        clock.advance(2)
    [row] = repository.take_unobserved("front-a")
    assert (row.state, row.reason) == (RecordState.FAILED, Reason.ATTEMPTS_EXHAUSTED)
    assert (row.hss, row.stage_seconds, row.core_seconds) == (None, {}, None)


def test_reference_distances_come_from_scored_records_of_one_fingerprint(
    repository: Repository, finish: Any, clock: Any
) -> None:
    """Distances of other settings, and of records that were not scored, are not comparable."""
    finish("a")
    finish("b", result={"fingerprint": "fp2"})
    finish("c", result={"state": RecordState.SKIPPED, "reason": Reason.TOO_LONG})
    finish("d", record={"service": "law"})
    finish("e", result={"perturbations": ()})
    [first, second] = repository.reference_distances(ReferenceWindow(), fingerprint="fp1")
    assert (first.record_id, second.record_id) == ("a", "d")
    assert (first.distances, first.strengths, first.shares) == (
        (0.2,),
        (Strength.MODERATE,),
        (0.125,),
    )
    assert (first.category, first.probability) == ("politics", 0.5)
    of_law = repository.reference_distances(ReferenceWindow(service="law"), fingerprint="fp1")
    assert [document.record_id for document in of_law] == ["d"]
    before = ReferenceWindow(since=clock.now - timedelta(days=1), until=first.received_at)
    assert list(repository.reference_distances(before, fingerprint="fp1")) == []


def test_reference_distances_page_through_any_number(
    repository: Repository, finish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages must neither lose nor repeat records that came in at the same instant."""
    monkeypatch.setattr("monitor.storage.reference_documents.PAGE", 2)
    names = [f"r{index}" for index in range(7)]
    for name in names:
        finish(name)
    found = repository.reference_distances(ReferenceWindow(), fingerprint="fp1")
    assert [document.record_id for document in found] == names


def test_normalizing_again_changes_scores_and_reasons_but_no_distance(
    repository: Repository, finish: Any, database: Database
) -> None:
    """Records that were uncalibrated get their HSS once there is a calibration."""
    unknown = Severity(
        hss=None,
        low=None,
        high=None,
        reason=Reason.UNCALIBRATED,
        interval_reason=Reason.UNCALIBRATED,
        normalizer=None,
    )
    finish("a", result={"severity": unknown, "reason": Reason.UNCALIBRATED, "calibration_id": None})
    normalizer = Normalizer(
        category="politics", value=0.4, low=None, high=None, documents=9, distances=70
    )
    severity = Severity(
        hss=0.5, low=0.4, high=0.6, reason=None, interval_reason=None, normalizer=normalizer
    )
    assert repository.apply_normalization("cal-2", {"a": severity, "gone": severity}) == 1
    detail = record_detail(database, "a")
    assert detail is not None
    assert detail.score is not None
    assert (detail.row.hss, detail.row.hss_low, detail.row.hss_high) == (0.5, 0.4, 0.6)
    assert (detail.row.reason, detail.row.calibration_id) == (None, "cal-2")
    assert (detail.score.normalizer, detail.score.normalizer_category) == (0.4, "politics")
    assert detail.row.raw_distance == 0.2
    assert repository.apply_normalization("cal-2", {"a": unknown}) == 1
    again = record_detail(database, "a")
    assert again is not None
    assert (again.row.hss, again.row.reason) == (None, Reason.UNCALIBRATED)


def calibration(name: str, clock: Any, *, provisional: bool = False) -> Calibration:
    pooled = Normalizer(category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320)
    news = Normalizer(category="news", value=0.5, low=None, high=None, documents=4, distances=30)
    return Calibration(
        id=name,
        fingerprint="fp1",
        settings={"k": 10, "encoder": "mini"},
        created_at=clock(),
        window="march",
        since=clock() - timedelta(days=1),
        until=None,
        provisional=provisional,
        normalizers=(pooled, news),
        warnings=("halves differ",),
    )


def test_an_own_calibration_goes_before_a_provisional_one(database: Database, clock: Any) -> None:
    """What ships with the package is only used until there is something better."""
    store = SqlCalibrationStore(database)
    assert store.active("fp1") is None
    shipped = calibration("shipped", clock, provisional=True)
    store.add(shipped, activate=True)
    assert store.active("fp1") == shipped
    own = calibration("own", clock)
    store.add(own, activate=True)
    assert (store.active("fp1"), store.active("fp2")) == (own, None)
    store.add(shipped, activate=True)  # every start does this
    assert store.active("fp1") == own


def test_activating_replaces_and_can_be_taken_back(database: Database, clock: Any) -> None:
    """A calibration is an explicit act, and so is the way back."""
    store = SqlCalibrationStore(database)
    first, second = calibration("first", clock), calibration("second", clock)
    store.add(first, activate=True)
    store.add(second, activate=False)
    assert store.active("fp1") == first
    assert store.activate("second") == second
    assert {c.id: active for c, active in store.all()} == {"first": False, "second": True}
    store.activate("first")
    assert store.active("fp1") == first
    assert store.get("second") == second
    with pytest.raises(UsageError, match="'none'"):
        store.activate("none")


def test_a_calibration_stays_in_force_however_many_come_after_it(
    database: Database, clock: Any
) -> None:
    """Series of settings that nobody calibrates any more are held to it, and must not lose it."""
    store = SqlCalibrationStore(database)
    old = replace(calibration("old", clock), fingerprint="fp2")
    store.add(old, activate=True)
    clock.advance(60)
    store.add(calibration("own", clock), activate=True)
    with database.write() as connection:
        made = connection.execute(sa.select(calibrations).where(calibrations.c.id == "own"))
        row = dict(made.mappings().one())
        later = {"active": False, "created_at": clock() + timedelta(days=1)}
        rows = [{**row, **later, "id": f"later-{number}"} for number in range(201)]
        connection.execute(sa.insert(calibrations), rows)
    assert [each.id for each in store.in_force()] == ["own", "old"]
    assert store.in_force()[1] == old


def test_epochs_are_opened_once_and_arrivals_add_up(database: Database, clock: Any) -> None:
    """Replicas agree on rates, and each adds what it saw."""
    store = SqlEpochStore(database)
    news = Stratum(service="news", model="m", category="")
    law = Stratum(service="law", model="m", category="x")
    epoch = SamplingEpoch(
        number=1,
        starts_at=clock(),
        ends_at=clock() + timedelta(minutes=5),
        rates={news: 0.125, law: 1.0},
        default_rate=0.25,
    )
    assert store.latest() is None
    assert store.open(epoch) is True
    assert store.open(replace(epoch, default_rate=0.5)) is False
    assert store.latest() == epoch
    store.add_arrivals(1, "front-a", {news: 3, law: 1})
    store.add_arrivals(1, "front-a", {news: 2})
    store.add_arrivals(1, "front-b", {news: 5})
    store.add_arrivals(2, "front-b", {news: 100})
    assert store.arrivals(1) == {news: 10, law: 1}
    assert store.arrivals(7) == {}


def test_a_shared_fact_is_settled_by_whoever_comes_first(database: Database) -> None:
    """Replicas that sample with different salts would not sample consistently."""
    assert SharedFacts(database).settle("salt", "one") == "one"
    assert SharedFacts(database).settle("salt", "two") == "one"
