"""`hss-monitor drift`: how the detectors behave, before they watch anything."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.cli.options import Json
from monitor.cli.output import emit, note, table

drift = typer.Typer(help="Simulate the drift detectors.", no_args_is_help=True)


@drift.callback()
def _drift() -> None:
    """Simulate the drift detectors."""


@drift.command("simulate")
def simulate(
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the made-up traffic.")] = 0,
    streams: Annotated[int, typer.Option("--streams", min=1, help="Streams a scenario.")] = 400,
    threshold: Annotated[
        float, typer.Option("--threshold", min=1.0, help="c of each one-sided e-detector.")
    ] = 10_000.0,
    detector: Annotated[
        list[str] | None, typer.Option("--detector", help="Only these; may be repeated.")
    ] = None,
    json_: Json = False,
) -> None:
    """False alarms and delays of the e-detector, beside river's detectors, PSI and KS."""
    # Brings SciPy, and river where it is installed.
    from monitor.drift.simulate import outpaced
    from monitor.drift.simulate import simulate as run

    rows = []
    for row in run(seed=seed, streams=streams, threshold=threshold, detectors=detector or None):
        rows.append(row)
        if json_:
            emit(row)
    if json_:
        return
    columns = list(rows[0].__slots__) if rows else []
    table(columns, [[getattr(row, column) for column in columns] for row in rows])
    for row in outpaced(rows):
        note(f"{row.detector} is quicker on {row.scenario}: {row.delay_median:.0f} records")
