"""The columns that name a series, in every table of findings."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Row

from monitor.findings import Series


def series_row(series: Series) -> dict[str, Any]:
    return {"service": series.service, "model": series.model, "category": series.category}


def series_of(row: Row[*tuple[Any, ...]]) -> Series:
    return Series(service=row.service, model=row.model, category=row.category)


def of_series(
    table: sa.Table, service: str | None, model: str | None, category: str | None
) -> list[sa.ColumnElement[bool]]:
    """Terms for the rows of these series; what is None does not restrict."""
    wanted = {"service": service, "model": model, "category": category}
    return [table.c[name] == value for name, value in wanted.items() if value is not None]
