"""Finding records within a budget, over both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from monitor.errors import UsageError
from monitor.findings import Series
from monitor.records import Reason, RecordState
from monitor.storage import search
from monitor.storage.engine import Database
from monitor.storage.queries import RecordFilter
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.search import known_series, search_records


@pytest.fixture
def finish(queue: SqlRecordQueue, make_sampled: Any, make_result: Any, clock: Any) -> Any:
    """Take a record in and finish it; `record` and `result` are what differs."""

    def run(record_id: str, *, record: Any = None, result: Any = None) -> None:
        queue.accept([make_sampled(record_id, **(record or {}))])
        clock.advance(10)
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record_id, **(result or {})))

    return run


def found(database: Database, text: str | None = None, **wanted: Any) -> list[str]:
    return [row.id for row in search_records(database, RecordFilter(**wanted), text=text).rows]


def all_pages(database: Database, *, limit: int, **more: Any) -> list[str]:
    """Every id, page by page; a page without rows may still go on."""
    ids: list[str] = []
    after: str | None = None
    for _ in range(100):
        page = search_records(database, after=after, limit=limit, **more)
        ids += [row.id for row in page.rows]
        after = page.next
        if after is None:
            return ids
    raise AssertionError("the pages do not end")


def test_each_filter_restricts(
    database: Database, queue: SqlRecordQueue, make_sampled: Any, finish: Any, clock: Any
) -> None:
    """Whichever index answers it, the outcome is the same."""
    start = clock.now
    finish("high", result={"hss": 0.9})
    finish("low", record={"service": "law", "release": "2"}, result={"hss": 0.1})
    skipped = {"state": RecordState.SKIPPED, "reason": Reason.TOO_LONG, "severity": None}
    finish("long", record={"model": "bart", "seconds": 5}, result=skipped)
    queue.accept([make_sampled("waiting", seconds=60, category="sport", trace_id="a" * 32)])
    assert found(database) == ["waiting", "long", "low", "high"]
    assert found(database, service="law") == found(database, release="2") == ["low"]
    assert found(database, service="law", model="gemma", category="politics") == ["low"]
    assert found(database, model="bart") == found(database, reason=Reason.TOO_LONG) == ["long"]
    assert found(database, state=RecordState.SKIPPED) == ["long"]
    assert found(database, category="politics", state=RecordState.SCORED) == ["low", "high"]
    assert found(database, category="sport") == found(database, trace_id="a" * 32) == ["waiting"]
    assert found(database, min_hss=0.5) == ["high"]
    assert found(database, since=start + timedelta(seconds=5)) == ["waiting", "long"]
    assert found(database, until=start + timedelta(seconds=5)) == ["low", "high"]
    assert found(database, service="nobody") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HARBOUR", ["b", "a"]),
        ("percent: 100% _sure", ["b"]),
        ("100_", []),
        ("the summary says", ["a"]),
        ("nowhere", []),
    ],
)
def test_a_text_is_found_as_it_is_written_whatever_its_case(
    database: Database, finish: Any, text: str, expected: list[str]
) -> None:
    """The wildcards of SQL are letters like others."""
    finish("a", record={"document": "The harbour.", "summary": "The summary says so."})
    finish("b", record={"document": "A Harbour. Percent: 100% _sure.", "summary": "S."})
    finish("c", record={"document": "None of it.", "summary": "S."})
    assert found(database, text) == expected


def test_pages_show_every_match_once(
    database: Database, queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """Across several series, and where many came in at the same instant."""
    for index in range(17):
        record = make_sampled(
            f"r{index:02}", seconds=index // 5, service=("a", "b", "c")[index % 3]
        )
        queue.accept([record])
    newest_first = [f"r{index:02}" for index in range(16, -1, -1)]
    assert all_pages(database, wanted=RecordFilter(), limit=4) == newest_first
    of_series = [name for name in newest_first if int(name[1:]) % 3 == 1]
    assert all_pages(database, wanted=RecordFilter(service="b"), limit=2) == of_series
    of_model = all_pages(database, wanted=RecordFilter(model="gemma"), limit=3)
    assert of_model == newest_first


def test_a_search_stops_at_its_budget_and_goes_on_from_there(
    database: Database, finish: Any
) -> None:
    """A filter that hardly anything passes reads no more than a page's worth of work."""
    finish("old", record={"seconds": 0}, result={"hss": 0.99})
    for index in range(12):
        finish(f"r{index}", record={"seconds": 10 + index}, result={"hss": 0.1})
    wanted = RecordFilter(min_hss=0.9)
    page = search_records(database, wanted, limit=2, scan=5)
    assert page.rows == ()
    assert page.next is not None
    assert page.searched_until is not None
    assert all_pages(database, wanted=wanted, limit=2, scan=5) == ["old"]
    everything = search_records(database, wanted, limit=2, scan=100)
    assert ([row.id for row in everything.rows], everything.next) == (["old"], None)


def test_known_series_names_each_once(
    database: Database, queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """A missing category and an empty one are the same series."""
    for index, (service, model, category) in enumerate(
        [("b", "m", None), ("b", "m", ""), ("b", "m", "x"), ("a", "n", "x"), ("a", "m", "y")] * 2
    ):
        record = make_sampled(f"r{index}", service=service, model=model, category=category)
        queue.accept([record])
    expected = [("a", "m", "y"), ("a", "n", "x"), ("b", "m", ""), ("b", "m", "x")]
    assert known_series(database) == [
        Series(service=s, model=m, category=c) for s, m, c in expected
    ]
    assert len(known_series(database, limit=2)) == 2


def test_more_series_than_can_be_known_are_still_found(
    database: Database, queue: SqlRecordQueue, make_sampled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the list of series is cut, a name that is not in it may exist all the same."""
    monkeypatch.setattr(search, "MAX_SERIES", 2)
    for name in "abcd":
        queue.accept([make_sampled(name, service=name)])
    series = known_series(database, limit=2)
    page = search_records(database, RecordFilter(service="d"), series=series)
    assert [row.id for row in page.rows] == ["d"]


@pytest.mark.parametrize("limit", [0, 201])
def test_a_page_has_at_most_200_rows(database: Database, limit: int) -> None:
    """No reader can make the database work without bound."""
    with pytest.raises(UsageError, match=f"{limit} rows; ask for 1 to 200"):
        search_records(database, RecordFilter(), limit=limit)
