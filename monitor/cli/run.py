"""`hss-monitor run`: the sidecar."""

from __future__ import annotations

from monitor.app import serve
from monitor.cli.options import Config, settings_of
from monitor.stores import require_shared_queue
from monitor.summarizers import check_summarizer


def run(config: Config = None) -> None:
    """Take in traffic, score it, and expose metrics, until it is told to stop."""
    settings = settings_of(config)
    if settings.execution.backend == "none":
        require_shared_queue(settings)
    else:
        # Its scorers would die of it again and again, while traffic is taken in.
        check_summarizer(settings)
    serve(settings, config=config)
