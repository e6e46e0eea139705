"""Groups of records with their signals, records by name, and what waited when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from monitor.findings import Series
from monitor.records import Reason, RecordState
from monitor.storage.comparison import record_group, record_rows
from monitor.storage.engine import Database
from monitor.storage.queries import RecordFilter
from monitor.storage.tables import records
from monitor.storage.waiting import LONGEST, record_lives
from monitor.storage.windows import Signal

POLITICS = Series(service="news", model="gemma", category="politics")


@pytest.fixture
def put(queue: Any, make_sampled: Any, make_result: Any, clock: Any) -> Any:
    """Takes a record in so many seconds after the start, and finishes it at the clock's time."""

    def put(record: str, *, seconds: float = 0.0, sampled: Any = None, **result: Any) -> None:
        queue.accept([make_sampled(record, seconds=seconds, **(sampled or {}))])
        clock.now = max(clock.now, clock() + timedelta(seconds=seconds))
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record, **result))

    return put


def test_a_group_has_a_sample_of_every_signal_that_it_has(put: Any, database: Database) -> None:
    """Oldest first; a signal that no record has is left out, and so are skipped records."""
    put("b", seconds=2, hss=0.5)
    put("a", seconds=1, hss=0.25)
    put("none", seconds=3, hss=None)
    put("gone", seconds=4, state=RecordState.SKIPPED, reason=Reason.TOO_LONG, severity=None)
    found = record_group(
        database, RecordFilter(), signals=(Signal.HSS, Signal.RAW_DISTANCE, Signal.NUMBER_SUPPORT)
    )
    assert (found.records, found.capped) == (3, False)
    assert found.samples[Signal.HSS].values.tolist() == [0.25, 0.5]
    assert found.samples[Signal.HSS].traces == ("a", "b")
    assert found.samples[Signal.RAW_DISTANCE].values.tolist() == [0.2] * 3
    assert Signal.NUMBER_SUPPORT not in found.samples
    assert found.fingerprints == {"fp1": 3}
    assert found.calibrations == {"cal-1": 3}


def test_an_explained_record_stands_for_those_that_were_not(put: Any, database: Database) -> None:
    """π times the probability of being explained: ½ · ¼."""
    put("a")
    found = record_group(database, RecordFilter(), signals=(Signal.HSS, Signal.SHAP_INSTABILITY))
    assert found.samples[Signal.HSS].probabilities.tolist() == [0.5]
    assert found.samples[Signal.SHAP_INSTABILITY].probabilities.tolist() == [0.125]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"model": "bart"}, ["c"]),
        ({"release": "2"}, ["b"]),
        ({"service": "mail"}, []),
        ({"category": "politics"}, ["a", "b", "c"]),
        ({"since": 2}, ["b", "c"]),
        ({"until": 2}, ["a"]),
    ],
)
def test_a_group_is_what_passes_the_filter(
    put: Any, database: Database, clock: Any, wanted: dict[str, Any], ids: list[str]
) -> None:
    """[since, until), as in every list."""
    start = clock()
    for second, (record, model, release) in enumerate(
        (("a", "gemma", "1"), ("b", "gemma", "2"), ("c", "bart", None)), 1
    ):
        put(record, seconds=second, sampled={"model": model, "release": release})
    times = {
        name: start + timedelta(seconds=value) if name in {"since", "until"} else value
        for name, value in wanted.items()
    }
    found = record_group(database, RecordFilter(**times), signals=(Signal.HSS,))
    traces = found.samples[Signal.HSS].traces if ids else ()
    assert (found.records, list(traces)) == (len(ids), ids)


def test_of_a_large_group_the_newest_count(put: Any, database: Database) -> None:
    """And it says so."""
    for second, record in enumerate("abc", 1):
        put(record, seconds=second)
    found = record_group(database, RecordFilter(), signals=(Signal.HSS,), limit=2)
    assert (found.records, found.capped) == (2, True)
    assert found.samples[Signal.HSS].traces == ("b", "c")


def test_records_are_found_by_their_names(put: Any, database: Database) -> None:
    """Whatever state they are in; one that retention took is left out."""
    put("a", hss=0.25)
    put("b", state=RecordState.FAILED, reason=Reason.SUMMARIZER_ERROR, severity=None)
    found = record_rows(database, ["a", "b", "gone"])
    assert {name: row.state for name, row in found.items()} == {"a": "scored", "b": "failed"}
    assert found["a"].hss == 0.25
    assert record_rows(database, []) == {}


def test_what_waited_is_known_afterwards(
    queue: Any, make_sampled: Any, make_result: Any, clock: Any, database: Database
) -> None:
    """Received at 0, 60 and 120 s; the first two are finished at 90 and 300 s."""
    start = clock()
    sampled = {"category": "politics"}
    queue.accept([make_sampled(f"r{n}", seconds=60 * n, **sampled) for n in range(3)])
    for ends, record in ((90, "r0"), (300, "r1")):
        clock.now = start + timedelta(seconds=ends)
        [leased] = queue.lease("w", count=1, seconds=60)
        assert leased.record.id == record
        queue.finish(leased.lease, make_result(record))
    lives = record_lives(database, POLITICS, since=start, until=start + timedelta(hours=1))
    seconds = start.timestamp()
    assert (lives.received - seconds).tolist() == [0, 60, 120]
    assert (lives.finished - seconds).tolist() == [90, 300, np.inf]
    times = np.array([30.0, 89.0, 90.0, 120.0, 240.0, 300.0, 420.0]) + seconds
    minutes = lives.minutes_unscored(times)
    assert minutes == pytest.approx([0.5, 89 / 60, 0.0, 0.5, 2.5, 0.0, 2.0])


def test_only_what_may_have_waited_then_is_read(
    queue: Any, make_sampled: Any, put: Any, clock: Any, database: Database
) -> None:
    """Old finished records do not matter; old ones that still wait do, with any category that
    may yet become this one; other series never."""
    start = clock()
    put("old", sampled={"category": "politics"})
    waiting = {"mine": "politics", "undecided": None, "sports": "sports"}
    queue.accept([make_sampled(name, category=value) for name, value in waiting.items()])
    queue.accept([make_sampled("other", model="bart", category="politics")])
    later = start + LONGEST + timedelta(days=1)
    lives = record_lives(database, POLITICS, since=later, until=later + timedelta(hours=1))
    assert lives.finished.tolist() == [np.inf, np.inf]
    recent = record_lives(database, POLITICS, since=start, until=start + timedelta(hours=1))
    assert len(recent.received) == 3


def test_the_series_without_a_category_has_a_past_of_its_own(
    put: Any, database: Database, clock: Any
) -> None:
    """Stored as NULL or as empty."""
    start = clock()
    put("a", category="")
    put("b")
    put("c")
    with database.write() as connection:
        connection.execute(sa.update(records).where(records.c.id == "b").values(category=None))
    series = Series(service="news", model="gemma", category="")
    lives = record_lives(database, series, since=start, until=start + timedelta(hours=1))
    assert len(lives.received) == 2
