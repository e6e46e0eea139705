"""Times in SQL: what is due, and where the two databases have no common word."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from monitor.storage.engine import Database


def seconds_of(database: Database, time: sa.ColumnElement[datetime]) -> sa.ColumnElement[float]:
    """Seconds since the epoch of a stored time."""
    if database.is_sqlite:
        # Its text form is cut to milliseconds here, which is finer than any picture.
        return (sa.func.julianday(time) - 2440587.5) * 86400.0
    return sa.cast(sa.extract("epoch", time), sa.Double)


def due(not_before: sa.ColumnElement[datetime], now: datetime, *, longest: float) -> Any:
    """Whether a wait is over; also where more is left of it than any wait takes.

    `longest`: seconds of the longest wait. One that seems longer was begun before the clock was
    set back, and would last until the clock has caught up.
    """
    return sa.or_(not_before <= now, not_before > now + timedelta(seconds=longest))


def floor_of(database: Database, number: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    """The greatest whole number that is not above a number ≥ 0."""
    # SQLite's cast cuts off, PostgreSQL's rounds; SQLite need not be built with `floor`.
    whole = number if database.is_sqlite else sa.func.floor(number)
    return sa.cast(whole, sa.Integer)
