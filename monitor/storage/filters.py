"""Terms of filters, in all of which None does not restrict."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa


def equal(table: sa.Table, **wanted: str | None) -> list[sa.ColumnElement[bool]]:
    """Columns, by name, that have these values."""
    return [table.c[name] == value for name, value in wanted.items() if value is not None]


def between(
    time: sa.Column[Any], since: datetime | None, until: datetime | None
) -> list[sa.ColumnElement[bool]]:
    """A time in [since, until)."""
    terms: list[sa.ColumnElement[bool]] = []
    if since is not None:
        terms.append(time >= since)
    if until is not None:
        terms.append(time < until)
    return terms
