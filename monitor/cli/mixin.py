"""`hss-monitor mixin`: dashboards and alerts of this configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.options import Config, settings_of
from monitor.cli.output import note
from monitor.errors import UsageError
from monitor.mixin.files import differing, files
from monitor.mixin.files import write as write_files
from monitor.mixin.installation import GRAFANA_URL, SCRAPE_JOB, SCRAPE_SECONDS, installation

mixin = typer.Typer(
    help="Write Grafana dashboards, alert rules and runbooks.", no_args_is_help=True
)


@mixin.callback()
def _mixin() -> None:
    """Write Grafana dashboards, alert rules and runbooks."""


@mixin.command("write")
def write(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the files go.")],
    config: Config = None,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", help="Instead of outlets.public_url of the configuration."),
    ] = None,
    grafana_url: Annotated[
        str, typer.Option("--grafana-url", help="Address of Grafana, for links of alerts.")
    ] = GRAFANA_URL,
    runbooks_url: Annotated[
        str | None,
        typer.Option("--runbooks-url", help="Where NAME.md lie; without it the sidecar itself."),
    ] = None,
    job: Annotated[str, typer.Option("--job", help="Scrape job of the sidecars.")] = SCRAPE_JOB,
    scrape_seconds: Annotated[
        float, typer.Option("--scrape-seconds", help="How often Prometheus scrapes.")
    ] = SCRAPE_SECONDS,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit code 1 where a file would change."),
    ] = False,
) -> None:
    """Dashboards, Prometheus and Grafana alert rules, provisioning files and runbooks."""
    settings = settings_of(config)
    wanted = files(
        settings,
        installation(
            settings,
            public_url=public_url,
            grafana_url=grafana_url,
            runbooks_url=runbooks_url,
            job=job,
            scrape_seconds=scrape_seconds,
        ),
    )
    try:
        changed = differing(folder, wanted) if check else write_files(folder, wanted)
    except OSError as error:
        raise UsageError(
            f"DIR: {str(folder)!r} cannot be written ({error.strerror}: {error.filename}); name a "
            "folder that this user may write"
        ) from None
    for path in changed:
        note(f"{'differs' if check else 'wrote'}: {folder / path}")
    note(f"{len(wanted)} files, {len(changed)} {'differ' if check else 'changed'}")
    if check and changed:
        raise typer.Exit(1)
