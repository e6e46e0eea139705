"""`hss-monitor scorer`: one scorer, or many on Ray; `run` starts its own, a fleet starts more."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from monitor import cluster
from monitor.cli.options import Config, settings_of
from monitor.stores import open_stores, require_shared_queue


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
    ray: Annotated[
        bool,
        typer.Option(
            "--ray", help="Start execution.ray.scorers of them on a Ray cluster, and watch them."
        ),
    ] = False,
) -> None:
    """Lease queued records, score them and store the results, until told to stop."""
    settings = settings_of(config)
    if ray:
        cluster.serve(settings)
        return
    if not child:
        require_shared_queue(settings)
    # Loads torch and all models: no other command should wait for that.
    from monitor.scorer import serve

    key = bytes.fromhex(sys.stdin.buffer.readline().decode().strip()) if child else b""
    with open_stores(settings, content_key=key or None, create=False) as stores:
        serve(settings, stores, child=child)
