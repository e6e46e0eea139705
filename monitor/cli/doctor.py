"""`hss-monitor doctor`: does it see what it should, and what will it cost."""

from __future__ import annotations

from typing import Any

import httpx
import typer
from rich.text import Text

from monitor.access.policy import reading_headers
from monitor.cli.audit import note_view
from monitor.cli.cost import costs
from monitor.cli.evaluating import evaluation_state
from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import cell, emit, note, out, table
from monitor.records import RecordState
from monitor.settings import Settings
from monitor.storage.detail import RecordDetail, record_detail
from monitor.storage.queries import RecordFilter, list_records
from monitor.stores import Stores, open_stores

LAST = 5
"""Prompts whose document is shown."""
COSTED = 20
"""Scored records that the cost of one is averaged over."""
HEAD = 160
"""Characters of a document that are shown."""


def doctor(config: Config = None, json_: Json = False) -> None:
    """What arrived, which client sends no content, how documents are cut, what scoring costs.

    Exit code 1 where something keeps records from being scored.
    """
    settings = settings_of(config)
    with open_stores(settings, create=False) as stores:
        latest = _latest(stores, None, LAST)
        note_view(stores, *(detail.row.id for detail in latest if detail.document is not None))
        sidecar, problem = _sidecar(settings)
        findings: dict[str, Any] = {
            "sidecar": sidecar,
            "states": {state.value: count for state, count in stores.queue.counts().items()},
            "queue_age_seconds": stores.queue.oldest_queued_age(),
            "documents": [_document(detail) for detail in latest],
            "cost": costs(stores, settings, _latest(stores, RecordState.SCORED, COSTED)),
            "evaluation": evaluation_state(stores, settings),
        }
    findings["advice"] = [*([problem] if problem else []), *_advice(findings)]
    if json_:
        emit(findings)
    else:
        _print(findings)
    if findings["advice"]:
        raise typer.Exit(1)


def _sidecar(settings: Settings) -> tuple[dict[str, Any] | None, str | None]:
    """What the running sidecar tells of itself, or what keeps it from that and the remedy."""
    try:
        answer = httpx.get(
            f"{settings.http.url}/api/status",
            headers=reading_headers(settings.access),
            timeout=3.0,
            trust_env=False,
        )
    except (httpx.HTTPError, httpx.InvalidURL):
        return None, "no sidecar answers at http.host and http.port: start `hss-monitor run`"
    if answer.status_code in {401, 403}:
        return None, (
            f"the sidecar refuses to tell of itself (status {answer.status_code}): run this with "
            "the configuration of the sidecar, so that it has the same access tokens"
        )
    try:
        status: dict[str, Any] = answer.raise_for_status().json()
    except (httpx.HTTPStatusError, ValueError):
        return None, (
            f"what answers at http.host and http.port is no sidecar, or none that is well (status "
            f"{answer.status_code}): see its log, or set another http.port"
        )
    return status, None


def _latest(stores: Stores, state: RecordState | None, count: int) -> list[RecordDetail]:
    page = list_records(stores.database, RecordFilter(state=state), limit=count)
    details = (record_detail(stores.database, row.id) for row in page.rows)
    return [detail for detail in details if detail is not None]


def _document(detail: RecordDetail) -> dict[str, Any]:
    text = detail.document
    return {
        "id": detail.row.id,
        "service": detail.row.service,
        "category": detail.row.category,
        "begins": None if text is None else text[:HEAD],
        "characters": None if text is None else len(text),
    }


def _advice(findings: dict[str, Any]) -> list[str]:
    sidecar, states = findings["sidecar"], findings["states"]
    advice = []
    if sidecar is not None:
        advice += [
            f"service {missing['service']!r} sends calls without content: {missing['remedy']}"
            for missing in sidecar["content_missing"]
        ]
        if not sidecar["received"]:
            advice.append(
                "nothing has arrived: send OTLP to /v1/traces or records to /v1/records "
                "of this port"
            )
        if states["queued"] and not sidecar["scorers_running"]:
            advice.append("records wait and no scorer runs: see the sidecar's log")
        evaluation = findings["evaluation"]
        begun = evaluation["holder"] is not None and evaluation["evaluated_at"] is None
        if evaluation["enabled"] and not evaluation["running"] and not begun:
            advice.append(
                "drift and thresholds are not being judged: see the evaluator's lines in the "
                "sidecar's log"
            )
    for document in findings["documents"]:
        if document["characters"] is not None and document["characters"] < 40:
            advice.append(
                f"the document of record {document['id']} has {document['characters']} "
                "characters: check ingest.extraction"
            )
    return advice


def _print(findings: dict[str, Any]) -> None:
    sidecar = findings["sidecar"]
    if sidecar is not None:
        table(
            ["received", "sampled", "replays ignored", "skipped on arrival"],
            [
                (
                    sidecar["received"],
                    sidecar["sampled"],
                    sidecar["replays_ignored"],
                    ", ".join(f"{k} {v}" for k, v in sidecar["skipped"].items()) or "none",
                )
            ],
        )
    table(list(findings["states"]), [tuple(findings["states"].values())])
    out.print(Text("\nThe last documents, as cut from their prompts", style="bold"))
    for document in findings["documents"]:
        begins = document["begins"]
        text = cell(begins) if begins is not None else Text("(text not kept)", style="dim")
        out.print(Text(f"{document['id']}  ", style="dim").append(text))
    cost = findings["cost"]
    out.print(Text("\nWhat scoring costs", style="bold"))
    table(
        ["", "a record", "a day"],
        [
            (name, cost[f"{name}_per_record"], _whole(cost[f"{name}_per_day"]))
            for name in ("calls", "prompt_tokens", "completion_tokens", "core_seconds")
        ],
    )
    _print_attribution(cost["attribution"])
    _print_evaluation(findings["evaluation"])
    for line in findings["advice"]:
        note(f"→ {line}")
    if not findings["advice"]:
        note("all is well")


def _whole(value: float | None) -> Text | None:
    """A large count; what is reckoned from a few minutes is not known to the thousandth."""
    return None if value is None else Text(f"{value:,.0f}", justify="right")


def _print_attribution(cost: dict[str, Any]) -> None:
    out.print(Text("\nWhat explaining costs on top of it", style="bold"))
    if cost["in_breach"]:
        out.print("beside these, every record of a series in a breach is explained")
    if not cost["share"]:
        out.print("nothing now: attribution.methods, share and above_hss explain no record")
        return
    known = "measured" if cost["evaluations_measured"] else "at most"
    table(
        ["", "an explained record", "a day"],
        [
            (
                "explained records",
                f"{cost['share']:.0%} of the scored",
                _whole(cost["explained_per_day"]),
            ),
            ("explanations", str(cost["explanations_per_record"]), None),
            (f"evaluations ({known})", _whole(cost["evaluations_per_record"]), None),
            ("calls", cost["calls_per_record"], _whole(cost["calls_per_day"])),
            ("seconds of a scorer", cost["seconds_per_record"], _whole(cost["seconds_per_day"])),
        ],
    )


def _print_evaluation(found: dict[str, Any]) -> None:
    out.print(Text("\nDrift and thresholds", style="bold"))
    last = "never" if found["evaluated_at"] is None else f"{found['evaluated_at']:%H:%M:%S}"
    if found["running"]:
        out.print(cell(f"judged by {found['holder']}, last at {last}"))
    else:
        out.print(cell(f"not being judged; last: {last}"))
