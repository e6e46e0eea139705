"""Times as senders write them."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(told: object) -> datetime | None:
    """An ISO 8601 time with an offset, in UTC; `None` for anything else.

    >>> utc("2026-11-30T09:00:00+01:00")
    datetime.datetime(2026, 11, 30, 8, 0, tzinfo=datetime.timezone.utc)
    >>> utc("2026-11-30T09:00:00") is None
    True
    """
    try:
        time = datetime.fromisoformat(told) if isinstance(told, str) else None
        # A time in year 1 or 9999 may have no equal in UTC.
        return None if time is None or time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
