"""Finished records go back into the queue, on both databases."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from monitor.records import Reason, RecordState
from monitor.storage.engine import Database
from monitor.storage.retry import retry
from monitor.storage.tables import attributions, null_runs, perturbations, records, scores


@pytest.fixture
def failed(queue: Any, make_sampled: Any, make_result: Any) -> str:
    """A record that failed after all its parts were stored."""
    queue.accept([make_sampled("r1")])
    [leased] = queue.lease("w", count=1, seconds=60)
    result = make_result("r1", state=RecordState.FAILED, reason=Reason.SUMMARIZER_TIMEOUT)
    queue.finish(leased.lease, result)
    return "r1"


def test_nothing_of_the_first_try_is_left(
    failed: str, queue: Any, database: Database, clock: Any
) -> None:
    """Score, runs and attributions go; the record is as it was on arrival."""
    queue_row = sa.select(records).where(records.c.id == failed)
    with database.read() as connection:
        before = connection.execute(queue_row).one()
    clock.advance(60)
    [answer] = retry(database, [failed], clock=clock)
    assert (answer.record_id, answer.queued, answer.refused) == (failed, True, None)
    with database.read() as connection:
        row = connection.execute(queue_row).one()
        left = [
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in (scores, perturbations, null_runs, attributions)
        ]
    assert left == [0, 0, 0, 0]
    assert (row.state, row.attempts, row.reason, row.detail) == (RecordState.QUEUED, 0, None, "")
    assert (row.finished_at, row.observed_at, row.lease_token) == (None, None, None)
    assert row.not_before == clock()
    assert row.document == before.document
    assert row.content_bytes < before.content_bytes


def test_it_is_leased_and_finished_like_any_other(
    failed: str, queue: Any, database: Database, clock: Any, make_result: Any
) -> None:
    """The second result replaces the first."""
    retry(database, [failed], clock=clock)
    [leased] = queue.lease("w", count=1, seconds=60)
    assert (leased.lease.record_id, leased.lease.attempt) == (failed, 1)
    queue.finish(leased.lease, make_result(failed, hss=0.5))
    with database.read() as connection:
        assert connection.execute(sa.select(scores.c.hss)).scalar_one() == 0.5


def test_records_that_ended_well_or_not_at_all_stay(
    queue: Any, make_sampled: Any, make_result: Any, database: Database, clock: Any
) -> None:
    """Waiting, leased and scored ones."""
    queue.accept([make_sampled(name, seconds=n) for n, name in enumerate("abc")])
    clock.advance(3)
    for leased in queue.lease("w", count=2, seconds=60):
        if leased.record.id == "a":
            queue.finish(leased.lease, make_result("a"))
    answers = retry(database, ["a", "b", "c"], clock=clock)
    assert [answer.queued for answer in answers] == [False, False, False]
    states = ("scored", "leased", "queued")
    assert all(word in (each.refused or "") for word, each in zip(states, answers, strict=True))
    assert queue.counts()[RecordState.SCORED] == 1
