"""Fill a database with a million scores: python tests/benchmarks/load.py sqlite:///load.db

A night on call (`tests/browser/story.py`, through the real stores) is the pattern; the database
multiplies it: first into the same hours, then back in time over a month. The newest copies keep
their texts, versions and attributions, as retention would leave them.
"""

from __future__ import annotations

import argparse
import runpy
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from monitor.storage.content import ContentMode
from monitor.storage.engine import Database, connect
from monitor.storage.schema import upgrade
from monitor.storage.tables import attributions, null_runs, perturbations, records, scores

PATTERN = 500
"""Records of the night that everything is copied from."""
PERIOD = 21_000.0
"""Seconds that the night spans; copies are put as many side by side as make a month of all."""
MONTH = 30 * 86_400.0
_AT_ONCE = 100
_TEXTS = ("document", "summary", "request", "alternatives", "sealed")


def load(database: Database, *, count: int = 1_000_000, with_texts: int = 10_000) -> Any:
    """Fill an empty database; the story that was copied."""
    tell = runpy.run_path(str(Path(__file__).parents[1] / "browser" / "story.py"))["tell"]
    story = tell(database, records=PATTERN, mode=ContentMode.FULL)
    pattern = _ids(database)
    copies, texts = -(-count // len(pattern)), -(-with_texts // len(pattern))
    side_by_side = max(1, round(copies * PERIOD / MONTH))
    for first in range(1, copies, _AT_ONCE):
        last = min(first + _AT_ONCE, copies) - 1
        for low, high, full in _split(first, last, texts):
            _copy(database, story.now, low, high, side_by_side, full=full)
    with database.autocommit() as connection:
        connection.execute(sa.text("ANALYZE"))
    return story


def _ids(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.execute(sa.select(records.c.id)).scalars())


def _split(first: int, last: int, texts: int) -> list[tuple[int, int, bool]]:
    """The copies [first, last] that keep their texts, and those that do not."""
    parts = [(first, min(last, texts - 1), True), (max(first, texts), last, False)]
    return [part for part in parts if part[0] <= part[1]]


def _copy(
    database: Database, now: datetime, first: int, last: int, side_by_side: int, *, full: bool
) -> None:
    numbers = sa.select(sa.literal(first).label("k")).cte("numbers", recursive=True)
    numbers = numbers.union_all(sa.select((numbers.c.k + 1).label("k")).where(numbers.c.k < last))
    k = numbers.c.k
    shift = sa.cast(k / side_by_side, sa.Integer) * PERIOD + k % side_by_side * (
        PERIOD / PATTERN / side_by_side
    )
    # A copy of a copy would make ever longer ids.
    original = records.c.id.not_like("%~%")
    copied = [records, scores, *((perturbations, null_runs, attributions) if full else ())]
    with database.write() as connection:
        for table in copied:
            key = "id" if table is records else "record_id"
            columns = {
                column.name: _changed(database, column, key, k, shift, full)
                for column in table.columns
            }
            source = sa.select(*columns.values()).select_from(
                table.join(numbers, sa.true())
                if table is records
                else records.join(table, table.c.record_id == records.c.id).join(numbers, sa.true())
            )
            connection.execute(sa.insert(table).from_select(list(columns), source.where(original)))


def _changed(
    database: Database, column: Any, key: str, k: Any, shift: Any, full: bool
) -> sa.ColumnElement[Any]:
    if column.name == key:
        return sa.type_coerce(column, sa.Text) + "~" + sa.cast(k, sa.Text)
    if column.name == "trace_id":
        return sa.type_coerce(column, sa.Text) + "~" + sa.cast(k, sa.Text)
    if column.name in _TEXTS and not full:
        return sa.null()
    if column.name == "erased_at" and not full:
        return _earlier(database, column.table.c.finished_at, shift)
    if column.name in ("baseline_summary", "baseline_sentences") and not full:
        return sa.null()
    if column.name.endswith(("_at", "_until", "not_before")):
        return _earlier(database, column, shift)
    return column


def _earlier(database: Database, column: Any, seconds: Any) -> sa.ColumnElement[Any]:
    if database.is_sqlite:
        by = sa.func.printf("-%.3f seconds", seconds)
        moved = sa.func.strftime("%Y-%m-%d %H:%M:%f", column, by)
        return sa.type_coerce(moved + "000", sa.Text)
    return column - sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", help="an empty database")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--with-texts", type=int, default=10_000)
    asked = parser.parse_args()
    database = connect(asked.url)
    upgrade(database)
    start = time.perf_counter()
    load(database, count=asked.count, with_texts=asked.with_texts)
    print(f"{asked.count} scores in {time.perf_counter() - start:.0f} s")  # noqa: T201 -- a script
    database.close()


if __name__ == "__main__":
    main()
