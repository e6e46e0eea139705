"""Finding records: by what they are, by what came out, and by a piece of their text.

A search costs no more than its budget. The filters that an index answers (series, state, time)
choose candidates, newest first; of these at most `SCAN` (with a text: `SCAN_TEXTS`) are looked
at for the rest. A page that ends there has fewer rows than were asked for, and goes on from
where it stopped: nothing is passed over, and no filter makes the database read a million
records at once. A text is found anywhere in a document or summary that is kept, whatever the
case of its letters (SQLite: of ASCII letters); there is no index over words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from monitor.findings import Series
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.keyset import Place, earlier
from monitor.storage.paging import check_limit, position_word, read_position
from monitor.storage.queries import ROW_COLUMNS, RecordFilter, RecordRow
from monitor.storage.signal_columns import of_series
from monitor.storage.tables import records, scores

SCAN: Final = 5_000
SCAN_TEXTS: Final = 2_000
MAX_SERIES: Final = 200
_MERGED: Final = 12
"""So many series are read side by side, each through its own index range; more of them
are most of the table, and the index on time does as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchPage:
    rows: tuple[RecordRow, ...]
    next: str | None
    """Give it as `after` for the rest; None at the end."""
    searched_until: datetime | None
    """The budget ended the search at this time: older records have not been looked at."""


def search_records(
    database: Database,
    wanted: RecordFilter,
    *,
    text: str | None = None,
    limit: int = 50,
    after: str | None = None,
    series: Sequence[Series] | None = None,
    scan: int | None = None,
) -> SearchPage:
    """Records that pass the filter and hold the text, newest first by (received_at, id).

    `series` are those of `known_series` (asked for where they are not handed in).

    Raises:
        UsageError: `limit` is out of range, or `after` did not come from a page.
    """
    check_limit(limit)
    if series is None:
        series = known_series(database)
    position = None if after is None else read_position(after)
    # A budget below what a page needs would only make more pages.
    budget = max(scan or (SCAN_TEXTS if text else SCAN), limit + 1)
    rest = _rest(wanted, text)
    if not rest:
        budget = limit + 1
    candidates = _candidates(wanted, series, position, budget)
    if candidates is None:
        return SearchPage(rows=(), next=None, searched_until=None)
    last = (
        sa.select(candidates.c.received_at, candidates.c.id)
        .order_by(candidates.c.received_at, candidates.c.id)
        .limit(1)
    )
    statement = (
        sa.select(*ROW_COLUMNS)
        .select_from(
            candidates.join(records, records.c.id == candidates.c.id).outerjoin(
                scores, scores.c.record_id == records.c.id
            )
        )
        .where(*rest)
        .order_by(candidates.c.received_at.desc(), candidates.c.id.desc())
        .limit(limit + 1)
    )
    with database.read() as connection:
        rows = [RecordRow(**row) for row in connection.execute(statement).mappings()]
        if len(rows) > limit:
            return SearchPage(
                rows=tuple(rows[:limit]),
                next=position_word(rows[limit - 1].received_at, rows[limit - 1].id),
                searched_until=None,
            )
        seen = connection.execute(sa.select(sa.func.count()).select_from(candidates)).scalar_one()
        if seen < budget:
            return SearchPage(rows=tuple(rows), next=None, searched_until=None)
        received_at, record_id = connection.execute(last).one()
    return SearchPage(
        rows=tuple(rows), next=position_word(received_at, record_id), searched_until=received_at
    )


def known_series(database: Database, *, limit: int = MAX_SERIES) -> list[Series]:
    """Every service x model x category that has records, by name; at most `limit`.

    Jumps from one to the next through the index on series, so that it costs as much as there
    are series, not as there are records. A record without a category counts as category "".
    """
    found: list[Series] = []
    with database.read() as connection:
        for service in _distinct(connection, records.c.service):
            of_service = records.c.service == service
            for model in _distinct(connection, records.c.model, of_service):
                here = (of_service, records.c.model == model)
                without = sa.select(sa.literal(1)).where(*here, records.c.category.is_(None))
                names = set(_distinct(connection, records.c.category, *here))
                if connection.execute(without.limit(1)).one_or_none():
                    names.add("")
                found += [
                    Series(service=service, model=model, category=name) for name in sorted(names)
                ]
                if len(found) >= limit:
                    return found[:limit]
    return found


def _distinct(
    connection: sa.Connection, column: sa.Column[Any], *here: sa.ColumnElement[bool]
) -> Iterator[str]:
    """The values of a column of the index on series, where the columns before it are fixed.

    One jump a value. Not by a comparison of tuples: SQLite begins that at the values that are
    equal, and reads all of them.
    """
    jump = sa.select(column).where(*here, column.is_not(None)).order_by(column).limit(1)
    value = connection.execute(jump).scalar_one_or_none()
    while value is not None:
        yield value
        value = connection.execute(jump.where(column > value)).scalar_one_or_none()


def _candidates(
    wanted: RecordFilter,
    series: Sequence[Series],
    position: Place | None,
    budget: int,
) -> sa.Subquery | None:
    """(received_at, id) of the newest records that the index part of a filter lets through."""
    terms = between(records.c.received_at, wanted.since, wanted.until)
    if position is not None:
        terms.append(earlier(records.c.received_at, records.c.id, position))
    if wanted.trace_id is not None:
        return _newest([*terms, records.c.trace_id == wanted.trace_id, *_names(wanted)], budget)
    if not _names(wanted):
        return _newest([*terms, *_state(wanted)], budget)
    matching = [each for each in series if _matches(each, wanted)]
    if not matching and len(series) < MAX_SERIES:
        return None
    if not matching or len(matching) > _MERGED:
        return _newest([*terms, *_names(wanted)], budget)
    parts = [_newest([*terms, *of_series(each)], budget) for each in matching]
    if len(parts) == 1:
        return parts[0]
    found = sa.union_all(*(sa.select(part) for part in parts)).subquery()
    return (
        sa.select(found.c.received_at, found.c.id)
        .order_by(found.c.received_at.desc(), found.c.id.desc())
        .limit(budget)
        .subquery()
    )


def _newest(terms: Sequence[sa.ColumnElement[bool]], limit: int) -> sa.Subquery:
    return (
        sa.select(records.c.received_at, records.c.id)
        .where(*terms)
        .order_by(records.c.received_at.desc(), records.c.id.desc())
        .limit(limit)
        .subquery()
    )


def _names(wanted: RecordFilter) -> list[sa.ColumnElement[bool]]:
    return equal(records, service=wanted.service, model=wanted.model, category=wanted.category)


def _state(wanted: RecordFilter) -> list[sa.ColumnElement[bool]]:
    return equal(records, state=wanted.state)


def _matches(series: Series, wanted: RecordFilter) -> bool:
    return (
        wanted.service in (None, series.service)
        and wanted.model in (None, series.model)
        and wanted.category in (None, series.category)
    )


def _rest(wanted: RecordFilter, text: str | None) -> list[sa.ColumnElement[bool]]:
    """What no index answers: it is looked at candidate by candidate."""
    terms: list[sa.ColumnElement[bool]] = []
    if _names(wanted) or wanted.trace_id is not None:
        terms += _state(wanted)
    if wanted.reason is not None:
        terms.append(
            sa.or_(records.c.reason == wanted.reason, scores.c.hss_reason == wanted.reason)
        )
    if wanted.release is not None:
        terms.append(records.c.release == wanted.release)
    if wanted.min_hss is not None:
        terms.append(scores.c.hss >= wanted.min_hss)
    if text:
        terms.append(
            sa.or_(
                records.c.document.icontains(text, autoescape=True),
                records.c.summary.icontains(text, autoescape=True),
            )
        )
    return terms
