"""The command line: parsing and printing only, one file per group of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import monitor
from monitor.cli import (
    audit,
    breaches,
    calibrate,
    calibrations,
    config,
    db,
    demo,
    doctor,
    drift,
    evaluator,
    export,
    ingest,
    mixin,
    models,
    records,
    run,
    score,
    scorer,
    study,
    thresholds,
)

app = typer.Typer(
    name="hss-monitor",
    help="Watch a summarization service for hallucination severity.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(monitor.__version__)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Watch a summarization service for hallucination severity."""


app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("score")(score.score)
app.command("scorer")(scorer.scorer)
app.command("evaluator", hidden=True)(evaluator.evaluator)
app.command("ingest")(ingest.ingest)
app.command("calibrate")(calibrate.calibrate)
app.add_typer(calibrations.calibrations, name="calibrations")
app.add_typer(records.records, name="records")
app.command("doctor")(doctor.doctor)
app.command("export")(export.export)
app.add_typer(audit.audit, name="audit")
app.add_typer(db.db, name="db")
app.add_typer(config.config, name="config")
app.command("metrics")(config.metrics)
app.add_typer(models.models, name="models")
app.add_typer(drift.drift, name="drift")
app.add_typer(thresholds.thresholds, name="thresholds")
app.add_typer(breaches.breaches, name="breaches")
app.add_typer(mixin.mixin, name="mixin")
app.add_typer(study.study, name="study")
