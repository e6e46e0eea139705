"""A position in a list that is ordered by (time, id), as one opaque, URL-safe word.

Keyset paging: page 1,000 costs as much as page 1, and what comes in meanwhile does not shift
the rest.
"""

from __future__ import annotations

import base64
import binascii
import json
from datetime import UTC, datetime
from typing import Final

from monitor.errors import UsageError

MAX_PAGE: Final = 200
"""No reader can make the database work without bound."""


def check_limit(limit: int) -> None:
    """Raises `UsageError` where a page would be empty or too long."""
    if not 1 <= limit <= MAX_PAGE:
        raise UsageError(f"limit: {limit} rows; ask for 1 to {MAX_PAGE}")


def position_word(at: datetime, id: str) -> str:
    """The position right behind an entry."""
    text = json.dumps([at.isoformat(), id])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_position(word: str) -> tuple[datetime, str]:
    """What `position_word` was made of; raises `UsageError` for anything else."""
    try:
        data = base64.urlsafe_b64decode(word.encode() + b"=" * (-len(word) % 4))
        at, id = json.loads(data)
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise _made_up(word)
        # Here, since a time in year 1 or 9999 may have no equal in UTC.
        return moment.astimezone(UTC), str(id)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        raise _made_up(word) from None


def _made_up(word: str) -> UsageError:
    return UsageError(
        f"after: {word!r} is no position in a list; use the `next` of the page before"
    )
