"""`hss-monitor config` and `metrics`: what is in force, what there is, what it means."""

from __future__ import annotations

import typer
import yaml

from monitor import configuration
from monitor.access.policy import policy_of
from monitor.cli.execution import check_execution
from monitor.cli.options import Config, Json
from monitor.cli.output import emit, note
from monitor.delivering import check_outlets
from monitor.front_stages import check_stages
from monitor.reference import configuration_reference, metrics_reference

config = typer.Typer(help="Check and show the configuration.", no_args_is_help=True)


@config.command("check")
def check(config: Config = None) -> None:
    """Validate the configuration: every key, and what keys, tokens and addresses make together.

    Models are loaded by `models check`. Exit code 2 names what is wrong.
    """
    settings = configuration.load(config)
    policy_of(settings.access)
    check_outlets(settings)
    check_stages(settings)
    check_execution(settings)
    if config is None:
        note("no --config was given; the defaults and the environment are valid")
    else:
        note(f"the configuration ({config} and environment) is valid")


@config.command("show")
def show(config: Config = None, json_: Json = False) -> None:
    """Print the effective configuration, secrets hidden."""
    values = configuration.shown(configuration.load(config))
    if json_:
        emit(values)
    else:
        typer.echo(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), nl=False)


@config.command("sample")
def sample() -> None:
    """Print a file that sets every key to its default, with explanations."""
    typer.echo(configuration.sample(), nl=False)


@config.command("reference")
def reference() -> None:
    """Print a page in Markdown that explains every key."""
    typer.echo(configuration_reference(), nl=False)


def metrics() -> None:
    """Print a page in Markdown that explains every metric."""
    typer.echo(metrics_reference(), nl=False)
