"""`hss-monitor scorer`: one scorer process; `run` starts its own, a fleet starts more."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from monitor.cli.options import Config, settings_of
from monitor.stores import open_stores


def scorer(
    config: Config = None,
    child: Annotated[
        bool,
        typer.Option(
            "--child",
            hidden=True,
            help="Started by a front: reads the content key, and ends with standard input.",
        ),
    ] = False,
) -> None:
    """Lease queued records, score them and store the results, until told to stop."""
    # Loads torch and all models: no other command should wait for that.
    from monitor.scorer import serve

    settings = settings_of(config)
    key = bytes.fromhex(sys.stdin.buffer.readline().decode().strip()) if child else b""
    with open_stores(settings, content_key=key or None) as stores:
        serve(settings, stores, child=child)
