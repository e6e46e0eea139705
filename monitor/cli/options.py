"""Options that commands share, and the settings that they lead to."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from monitor import configuration, logs
from monitor.errors import UsageError
from monitor.settings import Settings

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        envvar="HSS_MONITOR_CONFIG",
        help="Configuration file; without one the defaults apply.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object a line on standard output.")
]
Since = Annotated[
    str | None,
    typer.Option("--since", help="From this time on: 2h, 30m, 7d ago, or 2026-01-31T12:00Z."),
]
Until = Annotated[
    str | None, typer.Option("--until", help="Before this time, written like --since.")
]
Service = Annotated[str | None, typer.Option("--service", help="Only this service.")]
Model = Annotated[str | None, typer.Option("--model", help="Only this model.")]
Category = Annotated[str | None, typer.Option("--category", help="Only this category.")]

_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def settings_of(config: Path | None) -> Settings:
    """Load and validate the configuration, and set up logging as it says."""
    settings = configuration.load(config)
    logs.configure(settings.logging.level, settings.logging.format)
    return settings


def period(option: str, value: str) -> timedelta:
    """A length of time from `2h`, `90s` or `30d`.

    >>> period("--window", "90m").total_seconds()
    5400.0
    """
    found = _AGO.fullmatch(value.strip())
    if found is None or float(found[1]) == 0:
        raise UsageError(f"{option}: {value!r} is no length of time; write 90s, 30m, 2h or 7d")
    return timedelta(**{_UNITS[found[2]]: float(found[1])})


def stretch(option: str, value: str, *, now: datetime) -> tuple[datetime, datetime]:
    """Two times with `..` between them; nothing behind it means now.

    >>> since, until = stretch("--window", "2h..1h", now=datetime(2026, 1, 1, 12, tzinfo=UTC))
    >>> since.hour, until.hour
    (10, 11)
    """
    first, dots, last = value.partition("..")
    since = moment(option, first, now=now) if dots else None
    until = (moment(option, last, now=now) if last.strip() else now) if dots else None
    if since is None or until is None or since >= until:
        raise UsageError(f"{option}: {value!r} is no stretch of time; write 48h..24h or 24h..")
    return since, until


def moment(option: str, value: str | None, *, now: datetime) -> datetime | None:
    """A time from `2h` (ago) or ISO 8601 (UTC where it names no zone).

    >>> moment("--since", "2h", now=datetime(2026, 1, 1, 12, tzinfo=UTC)).isoformat()
    '2026-01-01T10:00:00+00:00'
    """
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip())
    if ago is not None:
        return now - timedelta(**{_UNITS[ago[2]]: float(ago[1])})
    try:
        parsed = datetime.fromisoformat(value.strip())
    except ValueError:
        raise UsageError(
            f"{option}: {value!r} is no time; write 90m, 2h, 7d or 2026-01-31T12:00Z"
        ) from None
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
