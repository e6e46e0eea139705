"""Options that commands share, and the settings that they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar, overload

import typer

from monitor import configuration, logs
from monitor.errors import UsageError, choices
from monitor.investigate.moments import moment as moment
from monitor.investigate.moments import span
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
Newest = Annotated[int, typer.Option("--limit", min=1, help="How many, newest first.")]
Category = Annotated[str | None, typer.Option("--category", help="Only this category.")]


WordT = TypeVar("WordT", bound=str)


def settings_of(config: Path | None) -> Settings:
    """Load and validate the configuration, and set up logging as it says."""
    settings = configuration.load(config)
    logs.configure(settings.logging.level, settings.logging.format)
    return settings


@overload
def one_of(option: str, value: str, among: Iterable[WordT]) -> WordT: ...
@overload
def one_of(option: str, value: str | None, among: Iterable[WordT]) -> WordT | None: ...
def one_of(option: str, value: str | None, among: Iterable[WordT]) -> WordT | None:
    """The word that was given; `None` where none was.

    >>> one_of("--state", "open", ("open", "resolved"))
    'open'
    """
    if value is None:
        return None
    words = tuple(among)
    for word in words:
        if word == value:
            return word
    raise UsageError(f"{option}: {value!r} is none of {choices(words)}")


def period(option: str, value: str) -> timedelta:
    """A length of time from `2h`, `90s` or `30d`.

    >>> period("--window", "90m").total_seconds()
    5400.0
    """
    found = span(value)
    if not found:
        raise UsageError(f"{option}: {value!r} is no length of time; write 90s, 30m, 2h or 7d")
    return found


def stretch(option: str, value: str, *, now: datetime) -> tuple[datetime, datetime]:
    """Two times with `..` between them; nothing behind it means now.

    >>> from datetime import UTC
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
