"""Printing: results on standard output, everything else on standard error."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

PIPED = 250
"""Columns of a table that goes to a file or a pipe."""

_NAMES = frozenset({"id", "breach"})
_JOINERS = frozenset("\u200c\u200d")
"""Not printable by the letter, but Persian words and family emoji are made with them."""
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""What JSON lets through although a terminal obeys it: 8-bit controls and changes of direction;
and halves of surrogate pairs, which UTF-8 cannot say."""


def plain(value: Any) -> Any:
    """A value as JSON holds it; refuses NaN and infinity, which JSON has no words for."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} is not a JSON number")
    return value


def emit(value: Any) -> None:
    """One compact JSON object on one line of standard output; harmless to look at, too."""
    # Under another encoding characters would be lost; escaped they mean the same.
    ascii_only = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=ascii_only)
    typer.echo(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def harmless(text: str, *, lines: bool = False) -> str:
    r"""The text without anything that a terminal would obey, position by position.

    Control characters, escape sequences and changes of direction become blanks; line breaks
    stay where `lines` says so.

    >>> harmless("a\x1b[31m\u202eb\nc"), harmless("a\nb", lines=True)
    ('a [31m b c', 'a\nb')
    """
    kept = _JOINERS | {"\n"} if lines else _JOINERS
    return "".join(c if c.isprintable() or c in kept else " " for c in text)


def cell(value: Any) -> Text:
    """A table cell; unknown is a dash, a number has three decimals. Never read as markup."""
    if value is None:
        return Text("–", style="dim")
    if isinstance(value, Text):
        return value
    if isinstance(value, float):
        return Text(number(value), justify="right")
    if isinstance(value, datetime):
        return Text(moment_words(value))
    return Text(harmless(str(plain(value))))


def prose(text: str) -> Text:
    """A foreign text of several lines."""
    return Text(harmless(text, lines=True))


def number(value: float) -> str:
    """Three decimals, and no minus before a zero.

    >>> number(0.5), number(-0.0001)
    ('0.500', '0.000')
    """
    return f"{round(value, 3) + 0.0:.3f}"


def counted(count: int, thing: str) -> str:
    """How many of a thing.

    >>> counted(1, "mark"), counted(2, "mark")
    ('1 mark', '2 marks')
    """
    return f"{count:,} {thing}" + "s" * (count != 1)


def known(value: float | None) -> str:
    """A number inside a line; unknown is a dash.

    >>> known(0.5), known(None)
    ('0.500', '–')
    """
    return "–" if value is None else number(value)


def moment_words(at: datetime) -> str:
    """A time to the second, UTC as everything that is stored."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


def interval(value: float | None, low: float | None, high: float | None) -> str | None:
    """A number with its interval.

    >>> interval(0.5, 0.4, 0.6), interval(0.5, None, None), interval(None, None, None)
    ('0.500 [0.400, 0.600]', '0.500', None)
    """
    if value is None:
        return None
    if low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> None:
    """Print a table on standard output; wide where nobody watches, so that `grep` finds whole
    rows."""
    heading = None if title is None else prose(title)
    grid = Table(
        title=heading,
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
        show_header=any(columns),
    )
    for column in columns:
        # What is copied from a list must be in one piece.
        grid.add_column(column, overflow="fold", no_wrap=column in _NAMES)
    for row in rows:
        grid.add_row(*(cell(value) for value in row))
    console = out if out.is_terminal else Console(width=PIPED, highlight=False, soft_wrap=True)
    console.print(grid)


def facts(rows: Iterable[Sequence[Any]], *, columns: Sequence[str] = ("", "")) -> None:
    """Print names and what they are, one a line, all aligned on the left."""
    table(
        columns,
        [[number(value) if isinstance(value, float) else value for value in row] for row in rows],
    )


def note(message: str) -> None:
    """A line for people on standard error."""
    # A terminal itself would break within words; in a file a line stays one.
    err.print(prose(message), soft_wrap=not err.is_terminal)
