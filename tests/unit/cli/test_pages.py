"""Lists that are longer than a page of the store."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from monitor.cli.pages import first_rows
from monitor.storage.paging import MAX_PAGE


@dataclass(frozen=True, kw_only=True)
class Page:
    rows: tuple[int, ...]
    next: str | None


class Store:
    """Numbers from 0 to `count`; remembers how many it was asked for at a time."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[int] = []

    def read(self, limit: int, after: str | None) -> Page:
        self.asked.append(limit)
        begin = int(after or 0)
        end = min(begin + limit, self.count)
        return Page(rows=tuple(range(begin, end)), next=str(end) if end < self.count else None)


@pytest.mark.parametrize(
    ("count", "limit", "asked", "more"),
    [
        (0, 50, [50], False),
        (50, 50, [50], False),
        (51, 50, [50], True),
        (2 * MAX_PAGE, MAX_PAGE + 7, [MAX_PAGE, 7], True),
        (MAX_PAGE + 7, 2 * MAX_PAGE, [MAX_PAGE, MAX_PAGE], False),
    ],
)
def test_a_list_goes_on_over_pages_up_to_its_limit(
    count: int, limit: int, asked: list[int], more: bool
) -> None:
    """A page of the store is bounded, a list is not; who reads a cut one has to be told."""
    store = Store(count)
    rows, left = first_rows(store.read, limit)
    assert rows == list(range(min(count, limit)))
    assert (store.asked, left) == (asked, more)
