"""The columns that name a series, in every table of findings."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from monitor.findings import Series


def series_row(series: Series) -> dict[str, Any]:
    return {"service": series.service, "model": series.model, "category": series.category}


def series_of(row: Row[*tuple[Any, ...]]) -> Series:
    return Series(service=row.service, model=row.model, category=row.category)
