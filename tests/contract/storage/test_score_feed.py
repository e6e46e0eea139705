"""What was scored since the last look, and all of it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.records import RecordState, ScoredRecord
from monitor.storage import queue as queue_module
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.score_feed import FeedPosition, SqlScoreFeed
from monitor.storage.score_rows import ScoreFilter, score_rows


@pytest.fixture
def feed(database: Database, clock: Any) -> SqlScoreFeed:
    return SqlScoreFeed(database, "events", clock=clock)


@pytest.fixture
def finish(queue: SqlRecordQueue, make_sampled: Any, make_result: Any) -> Any:
    """Queues a record and finishes it, `seconds` after the clock's time."""

    def finish(record_id: str, **fields: Any) -> None:
        queue.accept([make_sampled(record_id)])
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record_id, **fields))

    return finish


def all_ids(feed: SqlScoreFeed, *, limit: int) -> list[str]:
    """Everything that the feed gives, page by page, as an outlet reads it."""
    ids, position = [], feed.start()
    while rows := feed.read(position, limit=limit):
        ids += [row.record_id for row in rows]
        position = FeedPosition(finished_at=rows[-1].finished_at, record_id=rows[-1].record_id)
        feed.move(position)
    return ids


@pytest.mark.parametrize("question", ["feed", "last score"])
def test_what_was_scored_before_is_not_read_again(
    database: Database, feed: SqlScoreFeed, queue: SqlRecordQueue, clock: Any, question: str
) -> None:
    """It is asked every few seconds, of a database that nobody has made statistics of."""
    place = FeedPosition(finished_at=clock(), record_id="")
    plans: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.startswith("SELECT records."):
            how = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
            # So few records PostgreSQL reads faster without an index.
            if not database.is_sqlite:
                cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"{how} {statement}", values)
            plans.append("\n".join(str(row[-1]) for row in cursor.fetchall()))

    sa.event.listen(database.engine, "before_cursor_execute", explain)
    if question == "feed":
        feed.read(place, limit=5)
    else:
        queue.last_scored_at()
    (plan,) = plans
    assert "ix_records_scored" in plan
    assert "TEMP B-TREE" not in plan and "Sort" not in plan


def test_a_clock_that_was_set_back_does_not_stop_the_feed(
    feed: SqlScoreFeed, finish: Any, clock: Any
) -> None:
    """Behind a cursor in the future nothing would be sent until the clock has caught up."""
    feed.start()
    finish("a")
    clock.advance(60)
    assert all_ids(feed, limit=2) == ["a"]
    clock.advance(-7200)
    assert all_ids(feed, limit=2) == []
    finish("b")
    clock.advance(60)
    assert all_ids(feed, limit=2) == ["b"]


def test_the_feed_begins_now_and_goes_on_behind_its_cursor(
    feed: SqlScoreFeed, finish: Any, clock: Any, database: Database
) -> None:
    """What was scored before the outlet existed is not sent; a restart repeats nothing."""
    finish("before")
    clock.advance(60)
    assert all_ids(feed, limit=2) == []
    for name in ("c", "a", "b", "d", "e"):
        finish(name)
    clock.advance(60)
    assert all_ids(feed, limit=2) == ["a", "b", "c", "d", "e"]
    assert all_ids(SqlScoreFeed(database, "events", clock=clock), limit=2) == []
    finish("f")
    clock.advance(60)
    assert all_ids(feed, limit=2) == ["f"]


def test_only_scored_records_are_in_it(feed: SqlScoreFeed, finish: Any, clock: Any) -> None:
    """A skipped one has no value to tell."""
    feed.start()
    clock.advance(1)
    finish("skipped", state=RecordState.SKIPPED, severity=None, support=None, checks={})
    finish("scored")
    clock.advance(60)
    assert all_ids(feed, limit=10) == ["scored"]


def test_what_has_just_been_scored_is_left_for_the_next_look(
    feed: SqlScoreFeed, finish: Any, clock: Any
) -> None:
    """Another record may still get in before it."""
    position = feed.start()
    clock.advance(1)
    finish("fresh")
    assert feed.read(position, limit=10) == []
    clock.advance(6)
    assert [row.record_id for row in feed.read(position, limit=10)] == ["fresh"]


def test_a_slow_transaction_is_waited_for(
    queue: SqlRecordQueue,
    make_sampled: Any,
    make_result: Any,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its record ends earlier than others that are to be seen already.

    The database's own clock counts here; the feed's is ahead, so that it need not be waited for.
    """
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time: nobody overtakes a slow one")

    def now() -> datetime:
        return datetime.now(UTC)

    monkeypatch.setattr(queue, "_clock", now)
    ahead = timedelta(seconds=6)
    feed = SqlScoreFeed(database, "events", clock=lambda: now() + ahead)
    position = FeedPosition(finished_at=now() - timedelta(days=1), record_id="")
    queue.accept([make_sampled("slow"), make_sampled("quick", seconds=1)])
    slow, quick = queue.lease("w", count=2, seconds=60)
    holding, release = threading.Event(), threading.Event()
    plain = queue_module.result_rows

    def hold(result: ScoredRecord, **given: Any) -> Any:
        if result.record_id == "slow":
            holding.set()
            assert release.wait(10)
        return plain(result, **given)

    monkeypatch.setattr(queue_module, "result_rows", hold)
    writer = threading.Thread(target=queue.finish, args=(slow.lease, make_result("slow")))
    writer.start()
    assert holding.wait(10)
    queue.finish(quick.lease, make_result("quick"))
    seen_early = feed.read(position, limit=10)
    release.set()
    writer.join()
    assert seen_early == []
    assert {row.record_id for row in feed.read(position, limit=10)} == {"slow", "quick"}


def test_rows_hold_numbers_as_they_were_stored(
    feed: SqlScoreFeed, finish: Any, clock: Any, database: Database
) -> None:
    """The same row serves events and exports."""
    position = feed.start()
    clock.advance(1)
    finish("r1")
    clock.advance(60)
    [row] = feed.read(position, limit=10)
    assert (row.hss, row.hss_low, row.entity_support, row.entities) == (0.25, 0.1, 0.5, 2)
    assert (row.shap_instability, row.distances, row.category) == (0.3, 1, "politics")
    [[(exported, texts)]] = list(score_rows(database, ScoreFilter()))
    assert (exported, texts) == (row, None)


def test_exports_are_filtered_ordered_and_paged(
    finish: Any, database: Database, monkeypatch: pytest.MonkeyPatch, queue: Any, make_sampled: Any
) -> None:
    """A million rows must not be in memory at once."""
    monkeypatch.setattr("monitor.storage.score_rows._PAGE", 2)
    for name in ("c", "a", "b", "d", "e"):
        finish(name)
    queue.accept([make_sampled("waiting")])
    pages = [[row.record_id for row, _ in page] for page in score_rows(database, ScoreFilter())]
    assert pages == [["a", "b"], ["c", "d"], ["e"]]
    assert list(score_rows(database, ScoreFilter(service="other"))) == []
    [[(_, texts), *_], *_] = list(score_rows(database, ScoreFilter(), texts=True))
    assert texts is not None
    assert texts.summary == "The council approved the budget."
