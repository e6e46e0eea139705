"""Records by series and signal: what drift and thresholds are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from monitor.errors import UsageError
from monitor.findings import Cursor, Series
from monitor.records import Reason, RecordState
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.samples import signal_sample
from monitor.storage.series import finished_until, list_series, minutes_unscored
from monitor.storage.tables import records

POLITICS = Series(service="news", model="gemma", category="politics")
UNDECIDED = Series(service="news", model="gemma", category="")
_FILL = """
INSERT INTO records (
    id, state, detail, service, model, category, received_at, finished_at, content_mode,
    document_hash, summary_hash, content_bytes, stratum_service, stratum_model, stratum_category,
    probability, upstream_probability, epoch, front, attempts, not_before
)
SELECT
    'r' || n, CASE WHEN n > :count - 500 THEN 'queued' ELSE 'scored' END, '',
    's' || (n % 4), 'm', CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'c' END,
    {time}, CASE WHEN n > :count - 500 THEN NULL ELSE {time} END, 'full',
    '', '', 1, '', '', '', 1, 1, 1, 'f', 0, {time}
FROM {numbers}
"""
_SQLITE = (
    "strftime('%Y-%m-%d %H:%M:%f000', '2026-01-01', (n * 10) || ' seconds')",
    "(WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < :count) "
    "SELECT n FROM k)",
)
_POSTGRESQL = (
    "timestamptz '2026-01-01 00:00Z' + n * interval '10 seconds'",
    "generate_series(1, :count) AS k (n)",
)
_SCORE = """
INSERT INTO scores (record_id, scored_at, fingerprint, hss, distances, stage_seconds, truncated)
SELECT id, finished_at, 'f', 0.5, 8, '{}', false FROM records WHERE state = 'scored'
"""


@pytest.fixture
def finish(queue: SqlRecordQueue, make_sampled: Any, make_result: Any, clock: Any) -> Any:
    """Take one record in and finish it; a dict of sampled fields, the rest goes to the result."""

    def run(record_id: str, sampled: dict[str, Any] | None = None, **result: Any) -> None:
        seconds = (clock.now - clock.start).total_seconds()
        queue.accept([make_sampled(record_id, **({"seconds": seconds} | (sampled or {})))])
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record_id, **result))

    clock.start = clock.now
    return run


@pytest.fixture
def wait(queue: SqlRecordQueue, make_sampled: Any) -> Callable[..., None]:
    """Take one record in, `seconds` after the start, and leave it waiting."""

    def run(record_id: str, *, seconds: float = 0.0, **fields: Any) -> None:
        queue.accept([make_sampled(record_id, seconds=seconds, **fields)])

    return run


def test_a_sample_has_every_column_of_a_record(database: Database, finish: Any, clock: Any) -> None:
    """Values by hand: HSS 0.25 as given, π of the sampling, the achieved share of one version."""
    finish("a", {"trace_id": "t", "probability": 0.2, "release": "v2"})
    sample = signal_sample(database, POLITICS, "hss")
    assert (sample.ids, sample.traces, sample.releases) == (("a",), ("t",), ("v2",))
    assert sample.times.tolist() == [clock.now.timestamp()]
    assert (sample.values.tolist(), sample.probabilities.tolist()) == ([0.25], [0.2])
    assert sample.shares.tolist() == [0.125]


def test_a_record_without_a_trace_is_its_own(database: Database, finish: Any) -> None:
    """Otherwise all of them would be one cluster, of infinite variance."""
    finish("a")
    assert signal_sample(database, POLITICS, "hss").traces == ("a",)


def test_records_come_in_the_order_of_arrival_and_id(
    database: Database, finish: Any, clock: Any
) -> None:
    """The order of the e-detector: whoever ends first must not change it."""
    finish("b")
    finish("a")
    clock.advance(60)
    finish("0")
    assert signal_sample(database, POLITICS, "hss").ids == ("a", "b", "0")


def test_records_of_no_category_come_in_order_however_that_is_stored(
    database: Database, finish: Any, clock: Any
) -> None:
    """NULL and the empty word mean the same, and an index serves each on its own."""
    for name, category in (("d", None), ("c", ""), ("b", None), ("a", "")):
        finish(name, category=category)
        clock.advance(1)
    sample = signal_sample(database, UNDECIDED, "hss")
    assert sample.ids == ("d", "c", "b", "a")
    assert signal_sample(database, UNDECIDED, "hss", limit=3).ids == ("d", "c", "b")
    assert len(signal_sample(database, POLITICS, "hss")) == 0


def test_a_sample_goes_on_behind_its_cursor(database: Database, finish: Any, clock: Any) -> None:
    """Each record is taken in exactly once, also among those of one instant."""
    times: dict[str, datetime] = {}
    for name in ("a", "b", "c", "d"):
        finish(name)
        times[name] = clock.now
        if name == "b":
            clock.advance(1)
    after = None
    seen: list[tuple[str, ...]] = []
    while len(page := signal_sample(database, POLITICS, "hss", after=after, limit=3)):
        seen.append(page.ids)
        after = Cursor(received_at=times[page.ids[-1]], record_id=page.ids[-1])
    assert seen == [("a", "b", "c"), ("d",)]


def test_a_window_includes_its_start_and_not_its_end(
    database: Database, finish: Any, clock: Any
) -> None:
    """Two windows side by side share no record and miss none."""
    for name in ("a", "b", "c"):
        finish(name)
        clock.advance(60)
    start = clock.start
    window = {"since": start + timedelta(seconds=60), "until": start + timedelta(seconds=120)}
    assert signal_sample(database, POLITICS, "hss", **window).ids == ("b",)


def test_records_without_a_value_are_no_sample(database: Database, finish: Any) -> None:
    """NULL is no number; nor is the score of a record that was skipped in the end."""
    finish("a", raw_distance=None)
    finish("b", state=RecordState.SKIPPED, reason=Reason.TOO_LONG)
    finish("c", {"service": "other"})
    assert signal_sample(database, POLITICS, "raw_distance").ids == ()
    assert signal_sample(database, POLITICS, "excess").ids == ("a",)


def test_skipped_is_about_all_final_records(
    database: Database, finish: Any, wait: Callable[..., None]
) -> None:
    """A share of skipped records among those that ended; what waits is in neither."""
    finish("a")
    finish("b", state=RecordState.SKIPPED, reason=Reason.TOO_LONG)
    finish("c", state=RecordState.FAILED, reason=Reason.SUMMARIZER_ERROR)
    wait("d", category="politics")
    sample = signal_sample(database, POLITICS, "skipped", fingerprint="another")
    assert dict(zip(sample.ids, sample.values.tolist(), strict=True)) == {"a": 0, "b": 1, "c": 1}


def test_a_record_without_a_result_counts_as_skipped(
    database: Database, queue: SqlRecordQueue, wait: Callable[..., None], clock: Any
) -> None:
    """One whose attempts are exhausted has no score; its share is unknown, not 0."""
    wait("a")
    for _ in range(3):
        queue.lease("w", count=1, seconds=1)
        clock.advance(2)
    sample = signal_sample(database, UNDECIDED, "skipped")
    assert (sample.ids, sample.values.tolist()) == (("a",), [1.0])
    assert np.isnan(sample.shares).tolist() == [True]


def test_an_explained_record_has_the_probability_of_both_choices(
    database: Database, finish: Any
) -> None:
    """π · q: sampled with 0.5, explained with 0.25."""
    finish("a")
    sample = signal_sample(database, POLITICS, "shap_instability")
    assert (sample.values.tolist(), sample.probabilities.tolist()) == ([0.3], [0.125])


def test_a_fingerprint_restricts_to_scores_made_with_it(database: Database, finish: Any) -> None:
    """Distances of other settings are not comparable with the reference."""
    finish("a", fingerprint="old")
    finish("b", fingerprint="new")
    assert signal_sample(database, POLITICS, "hss", fingerprint="new").ids == ("b",)


@pytest.mark.parametrize("signal", ["minutes_unscored", "document", "hss; DROP TABLE records"])
def test_what_is_no_signal_of_records_is_refused(database: Database, signal: str) -> None:
    """Names come from a configuration, and become column names."""
    with pytest.raises(UsageError, match=r"no signal of single records; use 'hss', "):
        signal_sample(database, POLITICS, signal)


def test_the_busiest_series_comes_first(
    database: Database, finish: Any, wait: Callable[..., None], clock: Any
) -> None:
    """Where not all can be watched, those with most records are."""
    finish("a", {"service": "b"}, category=None)
    clock.advance(60)
    later = clock.now
    finish("b")
    finish("c", {"service": "b"}, category=None)
    finish("d", {"service": "b"}, category="")
    wait("e", service="b")
    quiet = Series(service="b", model="gemma", category="")
    assert list_series(database) == [(quiet, 3), (POLITICS, 1)]
    assert list_series(database, since=later) == [(quiet, 2), (POLITICS, 1)]
    assert list_series(database, limit=1) == [(quiet, 3)]
    assert list_series(database, since=later + timedelta(seconds=1)) == []


def test_the_order_is_complete_up_to_the_oldest_open_record(
    database: Database, finish: Any, wait: Callable[..., None], clock: Any
) -> None:
    """A record that is scored late must not slip in behind the cursor."""
    now = clock.now + timedelta(hours=1)
    assert finished_until(database, POLITICS, now=now) == now - timedelta(seconds=2)
    finish("done")
    wait("other", seconds=10, service="elsewhere")
    wait("sport", seconds=20, category="sport")
    assert finished_until(database, POLITICS, now=now) == now - timedelta(seconds=2)
    wait("own", seconds=40, category="politics")
    wait("later", seconds=50, category="politics")
    assert finished_until(database, POLITICS, now=now) == clock.start + timedelta(seconds=40)
    wait("undecided", seconds=30)
    assert finished_until(database, POLITICS, now=now) == clock.start + timedelta(seconds=30)
    assert finished_until(database, UNDECIDED, now=now) == clock.start + timedelta(seconds=30)


def test_an_arrival_of_just_now_is_not_ahead_of_the_margin(
    database: Database, wait: Callable[..., None], clock: Any
) -> None:
    """Others of the same second may still be on their way into the database."""
    wait("a", seconds=-1)
    assert finished_until(database, UNDECIDED, now=clock.now) == clock.now - timedelta(seconds=2)


def test_nothing_is_unscored_where_nothing_waits(
    database: Database, finish: Any, clock: Any
) -> None:
    """No traffic is no staleness; a series that never had a record has no answer."""
    assert minutes_unscored(database, POLITICS, now=clock.now) is None
    finish("a")
    assert minutes_unscored(database, POLITICS, now=clock.now + timedelta(hours=5)) == 0.0


def test_minutes_unscored_begin_with_the_last_sign_of_life(
    database: Database, finish: Any, wait: Callable[..., None], clock: Any
) -> None:
    """A long backlog that is worked off is no standstill: the last finished record counts."""
    start = clock.now
    wait("first", category="politics")
    wait("second", category="politics", seconds=1)
    assert minutes_unscored(database, POLITICS, now=start + timedelta(minutes=30)) == 30.0
    clock.advance(600)
    finish_first(database, clock.now)
    assert minutes_unscored(database, POLITICS, now=start + timedelta(minutes=30)) == 20.0


def test_records_that_wait_for_their_category_count_for_every_category(
    database: Database, finish: Any, wait: Callable[..., None], clock: Any
) -> None:
    """Where scorers decide the category nothing ever waits under one; a standstill must show.

    And while they work, that all the latest are of another category is no standstill.
    """
    finish("a")
    start = clock.now
    wait("undecided", seconds=60)
    assert minutes_unscored(database, POLITICS, now=start + timedelta(minutes=31)) == 30.0
    clock.advance(1200)
    with database.write() as connection:
        connection.execute(
            sa.insert(records).from_select(
                [column.name for column in records.columns],
                sa.select(
                    *(
                        {
                            "id": sa.literal("sport"),
                            "category": sa.literal("sport"),
                            "finished_at": sa.literal(clock.now, records.c.finished_at.type),
                        }.get(column.name, column)
                        for column in records.columns
                    )
                ).where(records.c.id == "a"),
            )
        )
    assert minutes_unscored(database, POLITICS, now=start + timedelta(minutes=31)) == 11.0


def finish_first(database: Database, now: datetime) -> None:
    """The record named `first` ends."""
    with database.write() as connection:
        connection.execute(
            sa.update(records)
            .where(records.c.id == "first")
            .values(state=RecordState.SCORED, finished_at=now)
        )


@contextmanager
def recorded_plans(database: Database) -> Iterator[list[str]]:
    """The plan of every SELECT that is executed meanwhile."""
    plans: list[str] = []
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "

    def note(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if statement.lstrip().startswith("SELECT"):
            cursor.execute(explain + statement, parameters)
            plans.append("\n".join(str(row[-1]) for row in cursor.fetchall()))

    sa.event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield plans
    finally:
        sa.event.remove(database.engine, "before_cursor_execute", note)


@pytest.fixture
def filled(database: Database) -> Database:
    """20,000 records in twelve series, the last 500 waiting, ten seconds apart."""
    time, numbers = _SQLITE if database.is_sqlite else _POSTGRESQL
    with database.write() as connection:
        fill = sa.text(_FILL.format(time=time, numbers=numbers))
        connection.execute(fill, {"count": 20_000})
        connection.execute(sa.text(_SCORE))
    with database.autocommit() as connection:
        connection.execute(sa.text("ANALYZE"))
    return database


@pytest.mark.parametrize("category", ["c", ""])
@pytest.mark.parametrize("question", ["sample", "cursor", "skipped", "until", "unscored"])
def test_questions_of_an_evaluation_are_backed_by_an_index(
    filled: Database, clock: Any, question: str, category: str
) -> None:
    """They are asked for every signal of every series, twice a minute."""
    series = Series(service="s2", model="m", category=category)
    since = clock.now - timedelta(days=58)
    cursor = Cursor(received_at=since, record_id="r1")
    with recorded_plans(filled) as plans:
        {
            "sample": lambda: signal_sample(filled, series, "hss", since=since),
            "cursor": lambda: signal_sample(filled, series, "hss", after=cursor, limit=100),
            "skipped": lambda: signal_sample(filled, series, "skipped", since=since),
            "until": lambda: finished_until(filled, series, now=clock.now),
            "unscored": lambda: minutes_unscored(filled, series, now=clock.now),
        }[question]()
    assert plans
    for plan in plans:
        assert "Seq Scan on records" not in plan, plan
        assert "SCAN records" not in plan, plan
        assert "ix_records" in plan, plan
