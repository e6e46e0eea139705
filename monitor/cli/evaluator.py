"""`hss-monitor evaluator`: the process that judges drift and thresholds; `run` starts its own."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.cli.options import Config, settings_of
from monitor.stores import open_stores


def evaluator(
    front: Annotated[
        str, typer.Option("--front", help="Name of the sidecar that exports what is found.")
    ],
    config: Config = None,
    child: Annotated[
        bool, typer.Option("--child", help="Started by a front: ends with standard input.")
    ] = False,
) -> None:
    """Judge drift and thresholds whenever it is this sidecar's turn, until told to stop."""
    # Loads SciPy: no other command should wait for that.
    from monitor.evaluator import serve

    settings = settings_of(config)
    with open_stores(settings, create=False) as stores:
        serve(settings, stores, front=front, child=child)
