"""`Retry-After`: for how long another system asks to be left alone."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_seconds(header: str | None, *, now: datetime) -> float | None:
    """Seconds of a `Retry-After` header (a number or an HTTP date); `None` for anything else.

    >>> retry_after_seconds("1.5", now=datetime(2026, 1, 1, tzinfo=UTC))
    1.5
    >>> retry_after_seconds("Thu, 01 Jan 2026 00:00:20 GMT", now=datetime(2026, 1, 1, tzinfo=UTC))
    20.0
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
        except (TypeError, ValueError):
            return None
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (aware - now).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
