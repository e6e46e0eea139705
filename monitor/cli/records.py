"""`hss-monitor records`: what was scored, and everything about one record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.audit import note_view
from monitor.cli.compare import compare
from monitor.cli.files import write_text
from monitor.cli.fitting import Column, beginnings, fitted, note_left, times
from monitor.cli.ids import record_if_any, record_of
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
from monitor.cli.output import emit, note, plain
from monitor.cli.pages import first_rows, note_more
from monitor.cli.shown import print_record
from monitor.errors import UsageError
from monitor.investigate.explain_html import explain_html
from monitor.investigate.record import facts_of
from monitor.records import Reason, RecordState
from monitor.storage.detail import record_detail
from monitor.storage.queries import RecordFilter, list_records
from monitor.storage.replayed import captured_request
from monitor.storage.retry import retry
from monitor.stores import now, open_stores

records = typer.Typer(help="List, show, compare and retry sampled records.", no_args_is_help=True)
records.command("compare")(compare)

COLUMNS = (
    Column(name="received", short=times),
    Column(name="id", short=beginnings),
    Column(name="service", rank=4, once=True),
    Column(name="model", rank=3, once=True),
    Column(name="category", rank=5, once=True),
    Column(name="state"),
    Column(name="reason", rank=1),
    Column(name="HSS"),
    Column(name="entities", rank=1),
    Column(name="numbers", rank=2),
)
"""Of the list."""


@records.command("list")
def list_(
    config: Config = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    state: Annotated[
        str | None, typer.Option("--state", help="queued, leased, scored, skipped or failed.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Only with this reason: too_long, …")
    ] = None,
    release: Annotated[str | None, typer.Option("--release", help="Only of this release.")] = None,
    since: Since = None,
    until: Until = None,
    min_hss: Annotated[
        float | None, typer.Option("--min-hss", help="Only with at least this HSS.")
    ] = None,
    limit: Newest = 50,
    json_: Json = False,
) -> None:
    """Sampled records, newest first."""
    wanted = RecordFilter(
        service=service,
        model=model,
        category=category,
        release=release,
        state=one_of("--state", state, RecordState),
        reason=one_of("--reason", reason, Reason),
        since=moment("--since", since, now=now()),
        until=moment("--until", until, now=now()),
        min_hss=min_hss,
    )
    with open_stores(settings_of(config), create=False) as stores:
        rows, more = first_rows(
            lambda size, after: list_records(stores.database, wanted, limit=size, after=after),
            limit,
        )
    if json_:
        for row in rows:
            emit(row)
        return
    left = fitted(
        COLUMNS,
        [
            (
                row.received_at,
                row.id,
                row.service,
                row.model,
                row.category,
                row.state,
                row.reason,
                row.hss,
                row.entity_support,
                row.number_support,
            )
            for row in rows
        ],
    )
    note_left(left)
    if not rows:
        note("no record passes these filters")
    if more:
        note_more()


@records.command("show")
def show(
    record: str,
    full: Annotated[
        bool, typer.Option("--full", help="Print the reworded documents as a whole, too.")
    ] = False,
    explain_html_to: Annotated[
        Path | None,
        typer.Option(
            "--explain-html",
            metavar="FILE",
            help="Write one self-contained page about it instead, for an incident report.",
        ),
    ] = None,
    config: Config = None,
    json_: Json = False,
) -> None:
    """Everything that is stored about one record, and what is not kept and why."""
    with open_stores(settings_of(config), create=False) as stores:
        record = record_of(stores, record)
        detail = record_detail(stores.database, record)
        if detail is None:
            raise UsageError(f"RECORD: record {record!r} was pruned just now; choose another")
        if detail.document is not None:
            note_view(stores, record)
        request = captured_request(stores.database, record)
        breaches = stores.breaches.breaches_of(record)
    if explain_html_to is not None:
        page = explain_html(detail, now=now(), request=request, breaches=breaches)
        write_text("--explain-html", explain_html_to, page)
        note(f"wrote {explain_html_to}")
        return
    facts = facts_of(detail, request=request, breaches=breaches)
    if json_:
        emit({**plain(detail), "breaches": facts.breaches, "missing": facts.missing})
        return
    print_record(facts, full=full)


@records.command("retry")
def retry_(
    ids: Annotated[list[str], typer.Argument(help="Records that were skipped or failed.")],
    config: Config = None,
    json_: Json = False,
) -> None:
    """Queue skipped and failed records again, while their content is kept.

    Exit code 1 where one of them could not be queued, 2 where there is no such record.
    """
    with open_stores(settings_of(config), create=False) as stores:
        known = {given: record_if_any(stores, given, argument="IDS") for given in ids}
        answers = retry(stores.database, [known[each] or each for each in ids], clock=now)
    for answer in answers:
        if json_:
            emit(answer)
        else:
            note(f"{answer.record_id}: {'queued again' if answer.queued else answer.refused}")
    if None in known.values():
        raise typer.Exit(2)
    if not all(answer.queued for answer in answers):
        raise typer.Exit(1)
