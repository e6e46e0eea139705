"""Tables as wide as the terminal that they are for.

Where a table is too wide, in this order and only as far as needed: ids, times and numbers take
their short form, columns without a value go, columns of one value are said once above, and the
least important columns are left out and named. Where nobody watches it stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from monitor.cli.ids import CUT
from monitor.cli.output import cell, note, out, prose, table
from monitor.stores import now

GAP: Final = 2
"""Blanks between columns."""
LEAST_ID: Final = 12
"""Characters that remain of an id: those of others than the listed ones hardly begin so."""
LEAST_TEXT: Final = 20
"""Columns of the terminal for a text that goes on in the next line, or its longest word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column of a table that fits."""

    name: str
    rank: int = 0
    """0 stays; the greatest is left out first."""
    short: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    """All values of the column in their short form."""
    once: bool = False
    """Is said above the table where all rows have one value."""
    wraps: bool = False
    """Its texts go on in the next line, between words."""


@dataclass(frozen=True, slots=True)
class _Filled:
    column: Column
    values: Sequence[Any]

    @property
    def cells(self) -> list[Text]:
        return [cell(value) for value in self.values]

    @property
    def empty(self) -> bool:
        return all(value is None or not str(value) for value in self.values)

    @property
    def constant(self) -> bool:
        return len(self.values) > 1 and len({each.plain for each in self.cells}) == 1

    @property
    def bare(self) -> int:
        """Columns of the terminal below which words or numbers break."""
        texts = self._texts()
        if self.column.wraps:
            texts = [word for text in texts for word in text.split()]
        return max(map(cell_len, texts), default=0)

    @property
    def least(self) -> int:
        """Columns of the terminal below which others are left out instead."""
        return max(self.bare, min(self.whole, LEAST_TEXT)) if self.column.wraps else self.whole

    @property
    def whole(self) -> int:
        """Columns of the terminal for every value in one line."""
        return max(map(cell_len, self._texts()))

    def _texts(self) -> list[str]:
        return [self.column.name, *(each.plain for each in self.cells)]


def fitted(
    columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, title: str | None = None
) -> list[str]:
    """Print a table on standard output that fits the terminal it goes to.

    Returns the names of the columns that are left out.
    """
    names = [column.name for column in columns]
    if not out.is_terminal:
        table(names, rows, title=title)
        return []
    wide = [_Filled(column, [row[at] for row in rows]) for at, column in enumerate(columns)]
    if title is not None:
        out.print(prose(title), style="table.title", soft_wrap=False)
    shown, once, left = _fit(wide, out.width)
    if once:
        words = [Text.assemble(f"{each.column.name} ", each.cells[0]) for each in once]
        out.print(Text(" · ").join(words), soft_wrap=False)
    _draw(shown)
    return left


def note_left(names: Sequence[str]) -> None:
    """For people, below tables that lack these columns."""
    if names:
        note(f"a wider terminal, a pipe or --json also tells: {', '.join(dict.fromkeys(names))}")


def _fit(wide: Sequence[_Filled], width: int) -> tuple[list[_Filled], list[_Filled], list[str]]:
    """What is shown, what is said once, and the names of what is left out."""
    shown, once, left = list(wide), [], []
    if _whole(shown) > width:
        shown = [_shortened(each) for each in shown]
    if _whole(shown) > width:
        shown = [each for each in shown if not (each.empty and each.column.rank)]
    if _whole(shown) > width:
        once = [each for each in shown if each.column.once and each.constant]
        shown = [each for each in shown if each not in once]
    while _width(shown) > width:
        least = max(shown, key=lambda each: each.column.rank)
        if not least.column.rank:
            break
        shown.remove(least)
        left.append(least.column.name)
    return shown, once, left


def _width(shown: Sequence[_Filled]) -> int:
    return sum(each.least for each in shown) + GAP * (len(shown) - 1)


def _whole(shown: Sequence[_Filled]) -> int:
    return sum(each.whole for each in shown) + GAP * (len(shown) - 1)


def _shortened(filled: _Filled) -> _Filled:
    short = filled.column.short
    return filled if short is None else replace(filled, values=short(filled.values))


def _draw(shown: Sequence[_Filled]) -> None:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for each in shown:
        wraps = each.column.wraps
        grid.add_column(each.column.name, no_wrap=not wraps, min_width=each.bare)
    for row in zip(*(each.cells for each in shown), strict=True):
        grid.add_row(*row)
    out.print(grid)


def beginnings(values: Sequence[Any]) -> Sequence[Any]:
    """Ids cut to a beginning that none of the others has.

    >>> beginnings(["211856310a21c2eaad78", "211856310a21d2eaad78", "short"])
    ['211856310a21c…', '211856310a21d…', 'short']
    """
    return [_beginning(value, values, LEAST_ID) for value in values]


def breach_beginnings(values: Sequence[Any]) -> Sequence[Any]:
    """Ids of breaches cut to a beginning of their own, with threshold and number.

    >>> breach_beginnings(["hss_mean-1-9270044b9e56", "hss_mean-2-9270044b9e56"])
    ['hss_mean-1-927…', 'hss_mean-2-927…']
    """
    return [_beginning(value, values, value.rfind("-") + 4) for value in values]


def _beginning(value: str, among: Sequence[str], least: int) -> str:
    others = set(among) - {value}
    for length in range(least, len(value) - 1):
        if not any(other.startswith(value[:length]) for other in others):
            return value[:length] + CUT
    return value


def times(values: Sequence[Any]) -> Sequence[Any]:
    """Times without the date where it is today, without year and seconds where it is not."""
    return [_time(value, now()) if isinstance(value, datetime) else value for value in values]


def _time(value: datetime, today: datetime) -> str:
    if value.date() == today.date():
        return f"{value:%H:%M:%S}"
    return f"{value:%m-%d %H:%M}" if value.year == today.year else f"{value:%Y-%m-%d}"
