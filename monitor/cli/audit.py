"""`hss-monitor audit`: who was shown which texts."""

from __future__ import annotations

import getpass
from typing import Annotated, Literal

import typer

from monitor.cli.options import Config, Json, Newest, Since, Until, moment, settings_of
from monitor.cli.output import emit, table
from monitor.stores import Stores, now, open_stores

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
    limit: Newest = 200,
    json_: Json = False,
) -> None:
    """Views of documents and summaries, in pages, by the API and by commands, newest first."""
    with open_stores(settings_of(config), create=False) as stores:
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


def note_view(stores: Stores, *record_ids: str, channel: Literal["cli", "export"] = "cli") -> None:
    """Note that a command is about to show the texts of records to who runs it."""
    stores.audit.viewed(*record_ids, role="operator", viewer=_user(), channel=channel)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"
