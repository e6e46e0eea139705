"""`hss-monitor db`: the schema and what is kept in it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import typer

from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, note, plain
from monitor.storage.engine import connect, require_file
from monitor.storage.integrity import check as check_integrity
from monitor.storage.schema import current_revision, prepare
from monitor.storage.schema import upgrade as upgrade_schema
from monitor.stores import prune_by

db = typer.Typer(help="Upgrade, check and prune the database.", no_args_is_help=True)


@db.command("upgrade")
def upgrade(config: Config = None) -> None:
    """Bring the schema up to date; keeps all data."""
    with closing(connect(settings_of(config).database.url)) as database:
        before = current_revision(database)
        upgrade_schema(database)
        after = current_revision(database)
    note(
        f"schema {before or '(none)'} → {after}"
        if before != after
        else f"schema {after} is current"
    )


@db.command("check")
def check(config: Config = None, json_: Json = False) -> None:
    """Check integrity and schema; exit code 1 where something is wrong."""
    url = settings_of(config).database.url
    require_file(url)
    with closing(connect(url)) as database:
        report = check_integrity(database)
    if json_:
        emit(report)
    else:
        for key, value in plain(report).items():
            typer.echo(f"{key}: {_listed(value)}")
    if report.revision != report.needed:
        note("the schema is not the one that this version needs: run `hss-monitor db upgrade`")
    if not report.ok:
        raise typer.Exit(1)


def _listed(value: Any) -> str:
    """One line for people: `records 12, scores 10`."""
    if isinstance(value, dict):
        value = [f"{name} {count}" for name, count in value.items()]
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


@db.command("prune")
def prune(config: Config = None, json_: Json = False) -> None:
    """Erase and delete what is older than the configuration keeps, now."""
    settings = settings_of(config)
    require_file(settings.database.url)
    with closing(connect(settings.database.url)) as database:
        prepare(database)
        report = prune_by(settings, database)
    if json_:
        emit(report)
    else:
        note(
            f"texts of {report.texts_erased} records erased; deleted: "
            f"{report.records_deleted} records, {report.breaches_deleted} breaches, "
            f"{report.epochs_deleted} sampling epochs, {report.views_deleted} noted views of texts"
        )
        if report.over_cap:
            note(
                f"warning: {report.bytes_after} bytes are more than storage.max_database_bytes: "
                "what is left waits to be scored, and is not pruned"
            )
