"""Thresholds as they stand, breaches as they came and went, and what people said of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from monitor.errors import UsageError
from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    EvaluatorLease,
    MarkCounts,
    Series,
    ThresholdState,
)
from monitor.ports import Clock
from monitor.storage import breach_rows
from monitor.storage.breach_list import BreachFilter, BreachPage, list_breaches
from monitor.storage.breach_writing import save_breaches, save_contributors
from monitor.storage.engine import Database
from monitor.storage.filters import equal
from monitor.storage.finding_tables import (
    IS_OPEN_BREACH,
    breach_contributors,
    breaches,
    threshold_states,
)
from monitor.storage.lease import require_lease
from monitor.storage.series_columns import series_of
from monitor.storage.upsert import upsert


class SqlBreachStore:
    """Breaches on either database; may be used from many threads.

    The evaluator writes through `save`, people through `acknowledge` and `mark`; neither
    touches what the other wrote. Every method raises `DatabaseUnavailable` where the database
    does not answer.
    """

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def threshold_states(
        self,
        *,
        threshold: str | None = None,
        service: str | None = None,
        model: str | None = None,
        category: str | None = None,
    ) -> list[ThresholdState]:
        """By series and threshold; what is None does not restrict."""
        terms = equal(
            threshold_states,
            threshold=threshold,
            service=service,
            model=model,
            category=category,
        )
        statement = (
            sa.select(threshold_states).where(*terms).order_by(*threshold_states.primary_key)
        )
        with self._database.read() as connection:
            return [breach_rows.threshold_state(row) for row in connection.execute(statement)]

    def save(
        self,
        lease: EvaluatorLease,
        *,
        states: Sequence[ThresholdState],
        breaches: Sequence[BreachDetail],
    ) -> None:
        """Store one evaluation as a whole: states replace the former ones, breaches open or go on.

        A breach opens once: saved again it keeps its `opened_at`, and one that was resolved
        stays resolved. Acknowledgements and marks stay. Contributors replace the former ones,
        except those that somebody marked, which move behind them; none at all changes nothing.
        Raises `LeaseLost`; then nothing was written.
        """
        with self._database.write() as connection:
            require_lease(connection, lease, now=self._clock())
            rows = [breach_rows.threshold_state_row(state) for state in states]
            upsert(connection, threshold_states, rows)
            save_breaches(connection, [detail.breach for detail in breaches])
            for detail in breaches:
                if detail.contributors:
                    save_contributors(connection, detail)

    def list_breaches(
        self, wanted: BreachFilter | None = None, *, limit: int = 50, after: str | None = None
    ) -> BreachPage:
        """Breaches that pass the filter, newest first by (opened_at, id).

        Raises:
            UsageError: `limit` is out of range, or `after` did not come from a page.
        """
        return list_breaches(self._database, wanted or BreachFilter(), limit=limit, after=after)

    def breach(self, breach_id: str) -> BreachDetail | None:
        """A breach with its contributors, the greatest first; None where there is none."""
        contributors = (
            sa.select(breach_contributors)
            .where(breach_contributors.c.breach_id == breach_id)
            .order_by(breach_contributors.c.place, breach_contributors.c.record_id)
        )
        with self._database.read() as connection:
            row = connection.execute(
                sa.select(breaches).where(breaches.c.id == breach_id)
            ).one_or_none()
            found = connection.execute(contributors).all() if row is not None else []
        if row is None:
            return None
        return BreachDetail(
            breach=breach_rows.breach_row(row),
            contributors=tuple(breach_rows.contributor(each) for each in found),
        )

    def acknowledge(self, breach_id: str, *, name: str, note: str) -> BreachRow:
        """Note who has seen it; the last one counts, and what was said before stands below.

        Raises `UsageError` for an unknown breach, or no name.
        """
        name = _named(name)
        of_breach = breaches.c.id == breach_id
        with self._database.write() as connection:
            before = connection.execute(
                sa.select(breaches).where(of_breach).with_for_update()
            ).one_or_none()
            if before is None:
                raise _unknown(breach_id)
            said = "\n".join(words for words in (note.strip(), _said(before)) if words)
            row = connection.execute(
                sa.update(breaches)
                .where(of_breach)
                .values(acknowledged_at=self._clock(), acknowledged_by=name, note=said or None)
                .returning(breaches)
            ).one()
        return breach_rows.breach_row(row)

    def mark(self, breach_id: str, record_id: str, *, right: bool, name: str) -> BreachContributor:
        """Note whether a record was rightly in a breach; the last mark counts.

        Raises `UsageError` for an unknown breach, a record that is not in it, or no name.
        """
        statement = (
            sa.update(breach_contributors)
            .where(
                breach_contributors.c.breach_id == breach_id,
                breach_contributors.c.record_id == record_id,
            )
            .values(mark=right, marked_by=_named(name), marked_at=self._clock())
            .returning(breach_contributors)
        )
        with self._database.write() as connection:
            row = connection.execute(statement).one_or_none()
        if row is not None:
            return breach_rows.contributor(row)
        if self.breach(breach_id) is None:
            raise _unknown(breach_id)
        raise UsageError(
            f"record: {record_id!r} is not among the contributors of breach {breach_id!r}; "
            "mark one of those that it shows"
        )

    def mark_counts(self) -> list[MarkCounts]:
        """Marks of every threshold that has any, by name."""
        mark = breach_contributors.c.mark
        statement = (
            sa.select(
                breaches.c.threshold,
                sa.func.sum(sa.case((mark, 1), else_=0)),
                sa.func.sum(sa.case((mark, 0), else_=1)),
            )
            .select_from(breaches.join(breach_contributors))
            .where(mark.is_not(None))
            .group_by(breaches.c.threshold)
            .order_by(breaches.c.threshold)
        )
        with self._database.read() as connection:
            return [
                MarkCounts(threshold=threshold, true=int(right), false=int(wrong))
                for threshold, right, wrong in connection.execute(statement)
            ]

    def breaches_of(self, record_id: str) -> list[BreachRow]:
        """The breaches to which a record contributed, newest first."""
        statement = (
            sa.select(breaches)
            .select_from(breaches.join(breach_contributors))
            .where(breach_contributors.c.record_id == record_id)
            .order_by(breaches.c.opened_at.desc(), breaches.c.id.desc())
        )
        with self._database.read() as connection:
            return [breach_rows.breach_row(row) for row in connection.execute(statement)]

    def open_series(self) -> frozenset[Series]:
        """Series with an open breach."""
        columns = (breaches.c.service, breaches.c.model, breaches.c.category)
        statement = sa.select(*columns).where(sa.text(IS_OPEN_BREACH)).distinct()
        with self._database.read() as connection:
            return frozenset(series_of(row) for row in connection.execute(statement))


def breach_id(threshold: str, series: Series, number: int) -> str:
    """The same for the same breach on every machine; safe in a URL.

    >>> breach_id("hss_mean", Series(service="news", model="gemma", category=""), 3)
    'hss_mean-3-2b7114ae12ea'
    """
    named = json.dumps([threshold, series.service, series.model, series.category])
    return f"{threshold}-{number}-{hashlib.sha256(named.encode()).hexdigest()[:12]}"


def _said(before: sa.Row[*tuple[Any, ...]]) -> str:
    """An acknowledgement as a line of the note of the next one."""
    if before.acknowledged_at is None:
        return ""
    words = f"before, {before.acknowledged_at:%Y-%m-%d %H:%M} UTC, {before.acknowledged_by}"
    return f"{words}: {before.note}" if before.note else words


def _named(name: str) -> str:
    if not name.strip():
        raise UsageError("name: empty; say who you are")
    return name.strip()


def _unknown(breach_id: str) -> UsageError:
    return UsageError(
        f"breach: {breach_id!r} is not stored; `hss-monitor breaches list` names those that are"
    )
