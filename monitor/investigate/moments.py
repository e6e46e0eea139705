"""Times as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from monitor.errors import UsageError

_SPAN = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def span(value: str) -> timedelta | None:
    """A length of time from `90s`, `2h` or `7d`; None for anything else.

    >>> span("90m"), span("soon")
    (datetime.timedelta(seconds=5400), None)
    """
    found = _SPAN.fullmatch(value.strip())
    if found is None:
        return None
    try:
        return timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError:
        return None


def moment(field: str, value: str | None, *, now: datetime) -> datetime | None:
    """A time from `2h` (ago) or ISO 8601 (UTC where it names no zone).

    >>> moment("since", "2h", now=datetime(2026, 1, 1, 12, tzinfo=UTC)).isoformat()
    '2026-01-01T10:00:00+00:00'
    """
    if value is None:
        return None
    ago = span(value)
    try:
        if ago is not None:
            return now - ago
        parsed = datetime.fromisoformat(value.strip())
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{field}: {value!r} is no time; write 90m, 2h, 7d or 2026-01-31T12:00Z"
        ) from None
