"""`hss-monitor study`: figures that the documentation states, measured anew."""

from __future__ import annotations

import typer

from monitor.cli.options import Config, Json, settings_of

study = typer.Typer(help="Measure what the documentation states.", no_args_is_help=True)
