"""When the records of a series came in and when they ended: was anything waiting?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import sqlalchemy as sa

from monitor.findings import Series
from monitor.records import FloatArray
from monitor.storage.engine import Database
from monitor.storage.signal_columns import of_names
from monitor.storage.tables import IS_OPEN, records

LONGEST: Final = timedelta(days=2)
"""How long before the stretch a record may have come in and still be looked at, unless it
waits to this day."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Lives:
    """The sampled records of one series, in the order in which they came in."""

    received: FloatArray
    """(n,) seconds since the epoch, ascending."""
    finished: FloatArray
    """(n,) likewise; infinity for a record that is not final yet."""

    def minutes_unscored(self, times: FloatArray) -> FloatArray:
        """At each of the ascending `times`, as `storage.series.minutes_unscored` then said.

        0 where nothing waited, else the minutes since the last record ended or the oldest of
        the waiting ones came in, whichever was later.

        >>> lives = Lives(received=np.array([0.0, 60.0]), finished=np.array([120.0, np.inf]))
        >>> lives.minutes_unscored(np.array([60.0, 120.0, 300.0]))
        array([1., 0., 3.])
        """
        ends = np.sort(self.finished)
        minutes = np.zeros(len(times))
        oldest = 0
        for index, time in enumerate(times.tolist()):
            # What has ended stays ended, so the oldest waiting record only moves on.
            while oldest < len(self.finished) and self.finished[oldest] <= time:
                oldest += 1
            if oldest == len(self.received) or self.received[oldest] > time:
                continue
            before = int(np.searchsorted(ends, time, side="right"))
            since = float(self.received[oldest])
            if before:
                since = max(since, float(ends[before - 1]))
            minutes[index] = (time - since) / 60
        return minutes


def record_lives(database: Database, series: Series, *, since: datetime, until: datetime) -> Lives:
    """The records of a series that may have waited in [since, until).

    Records that wait to this day without a category may become part of it, and so count.
    """
    same = of_names(series)
    own = records.c.category == series.category
    none = records.c.category.is_(None)
    earliest = since - LONGEST
    times = sa.select(records.c.received_at, records.c.finished_at, records.c.id)
    recent = [*same, records.c.received_at >= earliest, records.c.received_at < until]
    waiting = sa.and_(sa.text(IS_OPEN), sa.or_(own, none), *same)
    # Branches that an index answers each; together they hold every record once.
    branches = [times.where(*recent, own), times.where(waiting, records.c.received_at < earliest)]
    if series.category:
        branches.append(times.where(*recent, none, sa.text(IS_OPEN)))
    else:
        branches.append(times.where(*recent, none))
    found = sa.union_all(*branches).subquery()
    statement = sa.select(found.c.received_at, found.c.finished_at).order_by(
        found.c.received_at, found.c.id
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
    return Lives(
        received=np.array([received.timestamp() for received, _ in rows], dtype=np.float64),
        finished=np.array(
            [np.inf if ended is None else ended.timestamp() for _, ended in rows],
            dtype=np.float64,
        ),
    )
