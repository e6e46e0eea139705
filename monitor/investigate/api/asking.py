"""What the addresses of the API may ask for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from monitor.storage.paging import MAX_PAGE

Time = Annotated[str | None, Query(description="2h, 30m, 7d ago, or 2026-01-31T12:00Z")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
After = Annotated[str | None, Query(description="The `next` of the page before")]


def given(**values: str | None) -> dict[str, str]:
    """The parameters that an address has, as filters read them."""
    return {name: value for name, value in values.items() if value is not None}
