"""Printing: results on standard output, everything else on standard error."""

from __future__ import annotations

import dataclasses
import json
import math
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
    """One compact JSON object on one line of standard output."""
    typer.echo(json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False))


def cell(value: Any) -> Text:
    """A table cell; unknown is a dash, a number has three decimals. Never read as markup."""
    if value is None:
        return Text("–", style="dim")
    if isinstance(value, float):
        return Text(f"{value:.3f}", justify="right")
    if isinstance(value, datetime):
        return Text(value.strftime("%Y-%m-%d %H:%M:%S"))
    # Control characters of a foreign text must not reach the terminal.
    return Text("".join(c if c.isprintable() else " " for c in str(plain(value))))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> None:
    """Print a table on standard output."""
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(cell(value) for value in row))
    out.print(grid)


def note(message: str) -> None:
    """A line for people on standard error."""
    err.print(Text(message))
