"""Times as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from monitor.errors import UsageError

_AGO = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(field: str, value: str | None, *, now: datetime) -> datetime | None:
    """A time from `2h` (ago) or ISO 8601 (UTC where it names no zone); None from an empty text.

    >>> moment("since", "2h", now=datetime(2026, 1, 1, 12, tzinfo=UTC)).isoformat()
    '2026-01-01T10:00:00+00:00'
    """
    if value is None or not value.strip():
        return None
    ago = _AGO.fullmatch(value.strip())
    try:
        if ago is not None:
            return now - timedelta(**{_UNITS[ago[2]]: float(ago[1])})
        parsed = datetime.fromisoformat(value.strip())
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{field}: {value!r} is no time; write 90m, 2h, 7d or 2026-01-31T12:00Z"
        ) from None
