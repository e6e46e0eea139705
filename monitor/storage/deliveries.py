"""What the webhook has to be told: one event for each breach that opens, one when it resolves.

The primary key (breach, event) makes each of them once, whoever looks and how often. A claim
puts an event out of everybody else's reach until the claimer's time is up; if it dies, the event
is due again. The resolution waits for the opening: a receiver sees them in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from monitor.findings import BreachRow
from monitor.ports import Clock
from monitor.storage.breach_rows import breach_row
from monitor.storage.clockwork import due
from monitor.storage.engine import Database
from monitor.storage.finding_tables import breaches
from monitor.storage.outlet_tables import IS_DUE, deliveries
from monitor.storage.upsert import upsert

_LONGEST_SECONDS: Final = 1800.0
"""Of the pauses before another try, and of claims."""
OPEN: Final = "open"
RESOLVED: Final = "resolved"


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """One event, claimed to be delivered."""

    breach: BreachRow
    """As it stands now."""
    event: str
    """`open` or `resolved`."""
    attempt: int
    """1 for the first."""
    queued_at: datetime

    @property
    def key(self) -> str:
        """The same at every attempt: a receiver that saw it once ignores it then."""
        return f"{self.breach.id}:{self.event}"


class SqlDeliveries:
    """The events of breaches on either database; may be used from many threads.

    Every method raises `DatabaseUnavailable` where the database does not answer.
    """

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def queue(self, *, since: datetime) -> int:
        """Queue what has no event yet; how many were queued.

        Openings of breaches that are open, or opened at or after `since`; resolutions of
        breaches whose opening was queued and not given up.
        """
        opening, other = deliveries.alias(), deliveries.alias()
        open_ = sa.select(breaches.c.id, sa.literal(OPEN)).where(
            sa.or_(breaches.c.state == OPEN, breaches.c.opened_at >= since),
            ~sa.exists().where(other.c.breach_id == breaches.c.id, other.c.event == OPEN),
        )
        resolved = (
            sa.select(breaches.c.id, sa.literal(RESOLVED))
            .join(
                opening,
                sa.and_(
                    opening.c.breach_id == breaches.c.id,
                    opening.c.event == OPEN,
                    opening.c.given_up_at.is_(None),
                ),
            )
            .where(
                breaches.c.state == RESOLVED,
                ~sa.exists().where(other.c.breach_id == breaches.c.id, other.c.event == RESOLVED),
            )
        )
        now = self._clock()
        queued = 0
        for wanted in (open_, resolved):
            with self._database.write() as connection:
                rows = [
                    {
                        "breach_id": breach_id,
                        "event": event,
                        "queued_at": now,
                        "attempts": 0,
                        "not_before": now,
                    }
                    for breach_id, event in connection.execute(wanted)
                ]
                upsert(connection, deliveries, rows, keep=rows[0].keys() if rows else ())
            queued += len(rows)
        return queued

    def claim(self, *, seconds: float) -> Delivery | None:
        """The event that has been due for longest, ours for so many seconds; None without any."""
        now = self._clock()
        opening = deliveries.alias()
        first = (
            sa.select(deliveries)
            .where(
                sa.text(_due_of("deliveries")),
                due(deliveries.c.not_before, now, longest=_LONGEST_SECONDS),
                ~sa.exists().where(
                    deliveries.c.event == RESOLVED,
                    opening.c.breach_id == deliveries.c.breach_id,
                    opening.c.event == OPEN,
                    opening.c.delivered_at.is_(None),
                    opening.c.given_up_at.is_(None),
                ),
            )
            .order_by(deliveries.c.not_before, deliveries.c.breach_id, deliveries.c.event)
            .limit(1)
            .with_for_update(skip_locked=True, of=deliveries)
        )
        with self._database.write() as connection:
            row = connection.execute(first).one_or_none()
            if row is None:
                return None
            connection.execute(
                self._of(row.breach_id, row.event).values(
                    attempts=row.attempts + 1, not_before=now + timedelta(seconds=seconds)
                )
            )
            breach = connection.execute(
                sa.select(breaches).where(breaches.c.id == row.breach_id)
            ).one()
        return Delivery(
            breach=breach_row(breach),
            event=row.event,
            attempt=row.attempts + 1,
            queued_at=row.queued_at,
        )

    def delivered(self, delivery: Delivery) -> None:
        """It was taken: never again."""
        self._end(delivery, delivered_at=self._clock(), problem=None)

    def postpone(self, delivery: Delivery, *, seconds: float, problem: str) -> None:
        """It was not taken: again after so many seconds."""
        self._end(delivery, not_before=self._clock() + timedelta(seconds=seconds), problem=problem)

    def give_up(self, delivery: Delivery, *, problem: str) -> None:
        """It was not taken for too long: never again."""
        self._end(delivery, given_up_at=self._clock(), problem=problem)

    def _end(self, delivery: Delivery, **values: object) -> None:
        """Does nothing where another one has claimed it meanwhile, unless it was taken."""
        statement = self._of(delivery.breach.id, delivery.event).where(
            deliveries.c.delivered_at.is_(None)
        )
        if "delivered_at" not in values:
            statement = statement.where(deliveries.c.attempts == delivery.attempt)
        with self._database.write() as connection:
            connection.execute(statement.values(**values))

    def _of(self, breach_id: str, event: str) -> sa.Update:
        return sa.update(deliveries).where(
            deliveries.c.breach_id == breach_id, deliveries.c.event == event
        )


def _due_of(table: str) -> str:
    """The predicate of the partial index, its columns named fully."""
    return " AND ".join(f"{table}.{term}" for term in IS_DUE.split(" AND "))
