"""Lists that may be longer than a page of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from monitor.cli.output import note
from monitor.storage.paging import MAX_PAGE

RowT = TypeVar("RowT", covariant=True)


class Page(Protocol[RowT]):
    """Some rows of a list, and where the rest begins."""

    @property
    def rows(self) -> Sequence[RowT]: ...

    @property
    def next(self) -> str | None:
        """Given as `after` it asks for the rest; `None` at the end."""


def first_rows(
    read: Callable[[int, str | None], Page[RowT]], limit: int
) -> tuple[list[RowT], bool]:
    """At most `limit` rows, and whether there are more; `read` takes a limit and `after`."""
    rows: list[RowT] = []
    after: str | None = None
    while len(rows) < limit:
        page = read(min(MAX_PAGE, limit - len(rows)), after)
        rows += page.rows
        after = page.next
        if after is None:
            break
    return rows, after is not None


def note_more() -> None:
    """For people, below a list that was cut off."""
    note("there are more: raise --limit, or narrow the list with --since, --service, …")
