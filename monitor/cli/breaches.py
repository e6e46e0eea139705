"""`hss-monitor breaches`: what is wrong, since when, by which records; acknowledge, mark."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.cli.breach import breach_fields, contributor_fields, facts_fields, print_breach
from monitor.cli.evaluating import note_evaluation
from monitor.cli.fitting import Column, breach_beginnings, fitted, note_left, times
from monitor.cli.ids import breach_of, contributor_of
from monitor.cli.options import (
    Category,
    Config,
    Json,
    Model,
    Newest,
    Service,
    Since,
    Until,
    moment,
    one_of,
    settings_of,
)
from monitor.cli.output import emit, note
from monitor.cli.pages import first_rows, note_more
from monitor.cli.series import coloured_state, series_name
from monitor.errors import UsageError
from monitor.findings import BREACH_STATES, BreachRow
from monitor.investigate.breach import breach_facts
from monitor.page_sources import sources_of
from monitor.storage.breach_list import BreachFilter
from monitor.stores import now, open_stores

breaches = typer.Typer(help="List, show, acknowledge and mark breaches.", no_args_is_help=True)

COLUMNS = (
    Column(name="opened", short=times),
    Column(name="id", short=breach_beginnings),
    Column(name="series", rank=1, once=True, wraps=True),
    Column(name="state"),
    Column(name="severity", rank=3),
    Column(name="worst"),
    Column(name="limit", rank=4),
    Column(name="resolved", rank=2, short=times),
    Column(name="seen by", rank=5),
)
"""Of the list."""


@breaches.command("list")
def list_(
    config: Config = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    threshold: Annotated[
        str | None, typer.Option("--threshold", help="Only of this threshold.")
    ] = None,
    state: Annotated[str | None, typer.Option("--state", help="open or resolved.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Newest = 50,
    json_: Json = False,
) -> None:
    """Breaches, newest first. Exit code 1 where an open one is among them."""
    settings = settings_of(config)
    wanted = BreachFilter(
        service=service,
        model=model,
        category=category,
        threshold=threshold,
        state=one_of("--state", state, BREACH_STATES),
        since=moment("--since", since, now=now()),
        until=moment("--until", until, now=now()),
    )
    with open_stores(settings, create=False) as stores:
        rows, more = first_rows(
            lambda size, after: stores.breaches.list_breaches(wanted, limit=size, after=after),
            limit,
        )
        evaluation = note_evaluation(stores, settings)
    if json_:
        for row in rows:
            emit(breach_fields(row))
    else:
        note_left(_print(rows))
        if more:
            note_more()
    if not rows:
        note("no breach passes these filters")
    if evaluation is not None:
        note(evaluation)
    if any(row.state == "open" for row in rows):
        raise typer.Exit(1)


@breaches.command("show")
def show(breach: str, config: Config = None, json_: Json = False) -> None:
    """What, since when, how far, which release, by which records. Exit code 1 while it is open."""
    # Brings SciPy, for the intervals of before and since.
    from monitor.comparing import stretch_difference

    settings = settings_of(config)
    with open_stores(settings, create=False) as stores:
        breach = breach_of(stores, breach)
        facts = breach_facts(sources_of(stores, settings), breach)
        if facts is None:
            raise UsageError(f"BREACH: breach {breach!r} was pruned just now; choose another")
        row = facts.breach
        found = stretch_difference(stores, row.series, row.signal, facts.before, facts.after)
    if json_:
        emit(facts_fields(facts, found))
    else:
        print_breach(facts, found)
    if row.state == "open":
        raise typer.Exit(1)


@breaches.command("ack")
def ack(
    breach: str,
    name: Annotated[str, typer.Option("--name", help="Who has seen it.")],
    note_: Annotated[str, typer.Option("--note", help="What is being done about it.")] = "",
    config: Config = None,
    json_: Json = False,
) -> None:
    """Note that somebody has seen a breach; its state stays as it is."""
    with open_stores(settings_of(config), create=False) as stores:
        breach = breach_of(stores, breach)
        row = stores.breaches.acknowledge(breach, name=name, note=note_)
    if json_:
        emit(breach_fields(row))
    else:
        note(f"{row.id} was acknowledged by {row.acknowledged_by}; it is {row.state}")


@breaches.command("mark")
def mark(
    breach: str,
    record: str,
    name: Annotated[str, typer.Option("--name", help="Who says so.")],
    right: Annotated[
        bool, typer.Option("--right", help="The record was rightly in the breach.")
    ] = False,
    wrong: Annotated[bool, typer.Option("--wrong", help="It was not.")] = False,
    config: Config = None,
    json_: Json = False,
) -> None:
    """Say whether a record of a breach was rightly in it: the threshold's live precision."""
    if right == wrong:
        given = "both are given" if right else "neither is given"
        raise UsageError(f"--right, --wrong: {given}; say --right or --wrong")
    with open_stores(settings_of(config), create=False) as stores:
        breach = breach_of(stores, breach)
        record = contributor_of(stores, breach, record)
        marked = stores.breaches.mark(breach, record, right=right, name=name)
    if json_:
        emit({"breach": breach, **contributor_fields(marked)})
    else:
        note(f"record {marked.record_id} of {breach} is marked as {'right' if right else 'wrong'}")


def _print(rows: list[BreachRow]) -> list[str]:
    """The names of the columns that are left out."""
    return fitted(
        COLUMNS,
        [
            (
                row.opened_at,
                row.id,
                series_name(row.series),
                coloured_state(row.state),
                row.severity,
                row.worst,
                row.limit,
                row.resolved_at,
                row.acknowledged_by,
            )
            for row in rows
        ],
    )
