"""Options that commands share, and the settings that they lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor import configuration, logs
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


def settings_of(config: Path | None) -> Settings:
    """Load and validate the configuration, and set up logging as it says."""
    settings = configuration.load(config)
    logs.configure(settings.logging.level, settings.logging.format)
    return settings
