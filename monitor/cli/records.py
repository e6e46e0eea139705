"""`hss-monitor records`: what was scored, and everything about one record."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from monitor.cli.audit import note_view
from monitor.cli.explained import print_checks, print_coloured, print_methods
from monitor.cli.options import (
    Category,
    Config,
    Json,
    Model,
    Service,
    Since,
    Until,
    moment,
    settings_of,
)
from monitor.cli.output import cell, emit, note, out, table
from monitor.errors import UsageError, choices
from monitor.records import RecordState
from monitor.storage.detail import RecordDetail, StoredPerturbation, record_detail
from monitor.storage.queries import MAX_PAGE, RecordFilter, RecordRow, list_records
from monitor.stores import now, open_stores

records = typer.Typer(help="List and show sampled records.", no_args_is_help=True)


@records.command("list")
def list_(
    config: Config = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    state: Annotated[
        str | None, typer.Option("--state", help="queued, leased, scored, skipped or failed.")
    ] = None,
    since: Since = None,
    until: Until = None,
    min_hss: Annotated[
        float | None, typer.Option("--min-hss", help="Only with at least this HSS.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, newest first.")] = 50,
    json_: Json = False,
) -> None:
    """Sampled records, newest first."""
    wanted = RecordFilter(
        service=service,
        model=model,
        category=category,
        state=_state(state),
        since=moment("--since", since, now=now()),
        until=moment("--until", until, now=now()),
        min_hss=min_hss,
    )
    rows: list[RecordRow] = []
    after: str | None = None
    with open_stores(settings_of(config)) as stores:
        while len(rows) < limit:
            page = list_records(
                stores.database, wanted, limit=min(MAX_PAGE, limit - len(rows)), after=after
            )
            rows += page.rows
            after = page.next
            if after is None:
                break
    if json_:
        for row in rows:
            emit(row)
        return
    table(
        ["received", "id", "service", "model", "category", "state", "reason", "HSS", "entities"],
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
            )
            for row in rows
        ],
    )
    if after is not None:
        note("there are more: raise --limit, or narrow the list with --since, --service, …")


@records.command("show")
def show(record: str, config: Config = None, json_: Json = False) -> None:
    """Everything that is stored about one record."""
    with open_stores(settings_of(config)) as stores:
        detail = record_detail(stores.database, record)
        if detail is None:
            raise UsageError(f"RECORD: no record {record!r}; see `hss-monitor records list`")
        if detail.document is not None:
            note_view(stores, record)
    if json_:
        emit(detail)
        return
    _print(detail)


def _state(value: str | None) -> RecordState | None:
    if value is None:
        return None
    try:
        return RecordState(value)
    except ValueError:
        raise UsageError(f"--state: {value!r} is none of {choices(RecordState)}") from None


def _print(detail: RecordDetail) -> None:
    row, score = detail.row, detail.score
    out.print(Text(row.id, style="bold").append(f"  {row.service} · {row.model} · {row.state}"))
    facts: list[tuple[str, Any]] = [
        ("received", row.received_at),
        ("release", row.release),
        ("category", row.category),
        ("trace", row.trace_id),
        ("reason", row.reason),
        ("detail", row.detail or None),
        ("HSS", row.hss),
        ("95 % from", row.hss_low),
        ("95 % to", row.hss_high),
        ("raw distance", row.raw_distance),
        ("null distance", row.null_distance),
        ("excess", row.excess),
        ("entity support", row.entity_support),
        ("number support", row.number_support),
        ("calibration", row.calibration_id),
    ]
    if score is not None:
        facts += [("baseline", score.baseline), ("core seconds", score.core_seconds)]
        missing = ", ".join(f"{fact.text or '?'} ({fact.kind})" for fact in score.unsupported)
        facts.append(("not in the document", missing or None))
    table(["", ""], facts)
    _text("document", detail.document)
    _text("summary", detail.summary)
    if score is not None and score.checks:
        print_checks(score.checks)
    _explanations(detail)
    for run in detail.perturbations:
        _perturbation(run, score.baseline_sentences if score is not None else None)


def _explanations(detail: RecordDetail) -> None:
    """How each method explains the record: numbers always, words where they are kept."""
    if not detail.attributions or detail.score is None:
        return
    print_methods(detail.attributions)
    for each in detail.attributions:
        values = each.explanations[0].values
        if values is not None and detail.document is not None:
            print_coloured(each.method, detail.document, detail.score.attribution_spans, values)


def _text(title: str, text: str | None) -> None:
    out.print(Text(f"\n{title}", style="bold"))
    out.print(cell(text) if text is not None else Text("not kept (storage.mode, or erased)"))


def _perturbation(run: StoredPerturbation, baseline: tuple[str, ...] | None) -> None:
    title = f"\n{run.strength} · share {run.share:.3f} · distance "
    title += "–" if run.distance is None else f"{run.distance:.3f}"
    out.print(Text(title, style="bold"))
    words = [f"{item.original or '?'}→{item.replacement or '?'}" for item in run.substitutions]
    out.print(cell(", ".join(words)))
    if run.plan is None or run.cost is None or run.sentences is None or baseline is None:
        out.print(cell(run.summary or run.reason or "not kept"))
        return
    table(
        ["mass", "cost", "baseline sentence", "went to"],
        [
            (float(run.plan[i, j]), float(run.cost[i, j]), baseline[i], run.sentences[j])
            for i in range(run.plan.shape[0])
            for j in range(run.plan.shape[1])
            if run.plan[i, j] > 1e-6
        ],
    )
