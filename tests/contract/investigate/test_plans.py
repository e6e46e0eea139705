"""How the databases find what the pages show: through indexes, never by reading a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from monitor.findings import Series
from monitor.investigate.breach import breach_facts
from monitor.investigate.drift import series_drift
from monitor.investigate.overview import overview
from monitor.investigate.record import record_facts
from monitor.investigate.sources import Sources
from monitor.records import Reason, RecordState
from monitor.storage.engine import Database
from monitor.storage.queries import RecordFilter
from monitor.storage.search import search_records

LARGE = ("records", "scores", "perturbations", "null_runs", "attributions")
"""Tables that grow with the traffic."""


@contextmanager
def spoken(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """The statements that are sent meanwhile."""
    statements: list[tuple[str, Any]] = []

    def note(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            statements.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def whole_reads(database: Database, statement: str, parameters: Any) -> list[str]:
    """Lines of the plan that read one of the large tables from end to end."""
    with database.read() as connection:
        if database.is_sqlite:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            lines = [row[3] for row in rows]
            # In the order of an index up to a LIMIT is no whole read.
            return [
                line
                for line in lines
                if any(line == f"SCAN {table}" for table in LARGE)
                or any(line.startswith(f"SCAN {table} ") and "USING" not in line for table in LARGE)
            ]
        # So few rows are read faster without an index: what matters is that there is one.
        connection.execute(sa.text("SET LOCAL enable_seqscan = off"))
        rows = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)
        lines = [row[0] for row in rows]
        return [line for line in lines if any(f"Seq Scan on {table}" in line for table in LARGE)]


def _records(**wanted: Any) -> Callable[[Sources, Any], object]:
    text = wanted.pop("text", None)
    return lambda sources, story: search_records(
        sources.database, RecordFilter(**wanted), text=text, limit=50
    )


VIEWS: dict[str, Callable[[Sources, Any], object]] = {
    "overview": lambda sources, story: overview(sources),
    "breach": lambda sources, story: breach_facts(sources, story.breach_id),
    "record": lambda sources, story: record_facts(sources, story.worst, texts=True),
    "drift": lambda sources, story: series_drift(
        sources, Series(service="newsroom", model="gemma-270m", category="politics")
    ),
    "records": _records(),
    "records_of_service": _records(service="newsroom"),
    "records_of_series": _records(service="newsroom", model="gemma-270m", category="sport"),
    "records_of_state": _records(state=RecordState.SKIPPED),
    "records_of_reason": _records(reason=Reason.TOO_LONG),
    "records_of_score": _records(min_hss=0.5, service="newsroom"),
    "records_with_text": _records(text="Wexford"),
    "records_of_trace": _records(trace_id="0" * 32),
}


def test_no_page_reads_a_whole_table(database: Database, sources: Sources, story: Any) -> None:
    """A million records must not make a page slow."""
    bad = {}
    for name, view in VIEWS.items():
        with spoken(database) as statements:
            assert view(sources, story), name
        assert statements, name
        for statement, parameters in statements:
            if lines := whole_reads(database, statement, parameters):
                bad[name, statement] = lines
    assert bad == {}


def test_the_check_sees_a_whole_read(database: Database, sources: Sources) -> None:
    """Else the test above could not fail."""
    statement = "SELECT count(*) FROM scores WHERE hss > 0.5"
    assert whole_reads(database, statement, ()) != []


def test_a_page_stays_within_its_rows(sources: Sources, story: Any) -> None:
    """At most 200 rows of anything come back, however wide the window."""
    assert len(overview(sources).rows) == 3
    facts = breach_facts(sources, story.breach_id)
    assert facts is not None
    assert facts.course is not None
    assert len(facts.course.points) <= 60
    assert facts.before.until - facts.before.since == 3 * timedelta(
        seconds=facts.breach.window_seconds
    )
