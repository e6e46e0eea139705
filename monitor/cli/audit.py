"""`hss-monitor audit`: who was shown which texts."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.cli.options import Config, Json, Since, Until, moment, settings_of
from monitor.cli.output import emit, table
from monitor.stores import now, open_stores

audit = typer.Typer(help="Who was shown which texts.", no_args_is_help=True)


@audit.callback()
def _group() -> None:
    """Who was shown which texts."""


@audit.command("list")
def list_(
    config: Config = None,
    record: Annotated[str | None, typer.Option("--record", help="Only of this record.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, newest first.")] = 200,
    json_: Json = False,
) -> None:
    """Views of documents and summaries, in pages, by the API and by commands, newest first."""
    with open_stores(settings_of(config)) as stores:
        views = stores.audit.views(
            record_id=record,
            since=moment("--since", since, now=now()),
            until=moment("--until", until, now=now()),
            limit=limit,
        )
    if json_:
        for view in views:
            emit(view)
        return
    table(
        ["viewed", "role", "viewer", "record", "by"],
        [(v.viewed_at, v.role, v.viewer, v.record_id, v.channel) for v in views],
    )
