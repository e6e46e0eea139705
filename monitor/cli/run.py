"""`hss-monitor run`: the sidecar."""

from __future__ import annotations

from monitor.app import serve
from monitor.cli.execution import check_execution
from monitor.cli.options import Config, settings_of


def run(config: Config = None) -> None:
    """Take in traffic, score it, and expose metrics, until it is told to stop."""
    settings = settings_of(config)
    check_execution(settings)
    serve(settings, config=config)
