"""What was scored since the last look, each record at least once, for outlets.

The order is (finished_at, id), and a stored cursor says up to where an outlet is done. A
transaction that writes a score takes its time before it commits: behind a cursor that moved on
too far its record would never be seen. So the feed ends where nothing can come in any more. In
SQLite the time of the end is taken under the write lock, by clocks of one machine: a second ago
is enough. On PostgreSQL it ends five seconds ago, because clocks of several machines disagree,
and five seconds before the oldest transaction that still writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from monitor.ports import SET_BACK, Clock
from monitor.storage.engine import Database
from monitor.storage.keyset import later
from monitor.storage.outlet_tables import is_scored, outlet_cursors
from monitor.storage.score_rows import SCORE_COLUMNS, ScoreRow
from monitor.storage.tables import records, scores
from monitor.storage.upsert import upsert

_TICK: Final = timedelta(seconds=1)
_SKEW: Final = timedelta(seconds=5)
"""How far the clocks of fronts, scorers and the database may disagree."""
_WRITING = sa.text(
    "SELECT min(xact_start) FROM pg_stat_activity "
    "WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPosition:
    """The last record that an outlet is done with."""

    finished_at: datetime
    record_id: str


class SqlScoreFeed:
    """The feed of one outlet, known by its name."""

    def __init__(self, database: Database, outlet: str, *, clock: Clock) -> None:
        self._database = database
        self._outlet = outlet
        self._clock = clock

    def start(self) -> FeedPosition:
        """Where to go on; the first time it is now: what was scored before is not sent.

        A place far ahead of the clock, which was set back since, would keep everything from being
        sent until the clock has caught up: then it goes on from now, and some are sent twice.
        """
        statement = sa.select(outlet_cursors.c.finished_at, outlet_cursors.c.record_id).where(
            outlet_cursors.c.outlet == self._outlet
        )
        with self._database.read() as connection:
            row = connection.execute(statement).mappings().one_or_none()
        now = self._clock()
        if row is not None and row["finished_at"] <= now + SET_BACK:
            return FeedPosition(**row)
        position = FeedPosition(finished_at=now, record_id="")
        self.move(position)
        return position

    def read(self, after: FeedPosition, *, limit: int) -> list[ScoreRow]:
        """Scored records behind a position that nothing can come in before any more."""
        place = after.finished_at, after.record_id
        with self._database.read() as connection:
            until = self._settled_until(connection)
            statement = (
                sa.select(*SCORE_COLUMNS)
                .select_from(records.join(scores))
                .where(
                    is_scored(self._database),
                    later(records.c.finished_at, records.c.id, place),
                    records.c.finished_at < until,
                )
                .order_by(records.c.finished_at, records.c.id)
                .limit(limit)
            )
            return [ScoreRow(**row) for row in connection.execute(statement).mappings()]

    def move(self, position: FeedPosition) -> None:
        """Be done with everything up to a position; durable on return."""
        row = {
            "outlet": self._outlet,
            "finished_at": position.finished_at,
            "record_id": position.record_id,
        }
        with self._database.write() as connection:
            upsert(connection, outlet_cursors, [row])

    def _settled_until(self, connection: sa.Connection) -> datetime:
        now = self._clock()
        if self._database.is_sqlite:
            return now - _TICK
        writing: datetime | None = connection.execute(_WRITING).scalar_one()
        return (now if writing is None else min(now, writing)) - _SKEW
