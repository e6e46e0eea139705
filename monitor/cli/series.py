"""How series and their states are written, in every list."""

from __future__ import annotations

from rich.text import Text

from monitor.cli.output import cell
from monitor.findings import Series

_COLOURS = {
    "drifted": "bold red",
    "open": "bold red",
    "suspect": "yellow",
    "pending": "yellow",
    "stable": "green",
    "ok": "green",
    "resolved": "green",
    "insufficient": "dim",
}


def series_fields(series: Series) -> dict[str, str]:
    """The first keys of every JSON object about a series."""
    return {"service": series.service, "model": series.model, "category": series.category}


def series_name(series: Series) -> Text:
    """Service, model and category."""
    return cell(f"{series.service} · {series.model} · {series.category or 'no category'}")


def coloured_state(state: str) -> Text:
    """A state on its colour; the word itself says it all without colour."""
    return Text(state, style=_COLOURS.get(state, ""))
