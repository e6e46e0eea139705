"""`hss-monitor doctor`: does it see what it should, and what will it cost."""

from __future__ import annotations

from typing import Any

import httpx
import typer
from rich.text import Text

from monitor.access.policy import reading_headers
from monitor.cli.audit import note_view
from monitor.cli.cost import AttributionCost, costs
from monitor.cli.diagnosis import CutDocument, Diagnosis, advice_of
from monitor.cli.evaluating import EvaluationState, evaluation_state
from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import cell, emit, note, number, out, table
from monitor.durations import duration
from monitor.records import RecordState
from monitor.settings import Settings
from monitor.storage.detail import RecordDetail, record_detail
from monitor.storage.queries import RecordFilter, list_records
from monitor.stores import Stores, open_stores

LAST = 5
"""Prompts whose document is shown."""
COSTED = 20
"""Scored records that the cost of one is averaged over."""
LARGE = 100
"""Decimals of a mean count from here on are noise."""
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
        states = {state.value: count for state, count in stores.queue.counts().items()}
        documents = [_document(detail) for detail in latest]
        evaluation = evaluation_state(stores, settings)
        advice = advice_of(
            sidecar,
            queued=states[RecordState.QUEUED],
            documents=documents,
            evaluation=evaluation,
        )
        found = Diagnosis(
            sidecar=sidecar,
            states=states,
            queue_age_seconds=stores.queue.oldest_queued_age(),
            documents=documents,
            cost=costs(stores, settings, _latest(stores, RecordState.SCORED, COSTED)),
            evaluation=evaluation,
            advice=advice if problem is None else [problem, *advice],
        )
    if json_:
        emit(found)
    else:
        _print(found)
    if found.advice:
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


def _document(detail: RecordDetail) -> CutDocument:
    text = detail.document
    return CutDocument(
        id=detail.row.id,
        service=detail.row.service,
        category=detail.row.category,
        begins=None if text is None else text[:HEAD],
        characters=None if text is None else len(text),
    )


def _print(found: Diagnosis) -> None:
    sidecar = found.sidecar
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
    table(list(found.states), [tuple(found.states.values())])
    out.print(Text("\nThe last documents, as cut from their prompts", style="bold"))
    for document in found.documents:
        begins = document.begins
        text = cell(begins) if begins is not None else Text("(text not kept)", style="dim")
        out.print(Text(f"{document.id}  ", style="dim").append(text))
    cost = found.cost
    out.print(Text("\nWhat scoring costs", style="bold"))
    table(
        ["", "a record", "a day"],
        [
            ("calls", cost.calls_per_record, _whole(cost.calls_per_day)),
            (
                "prompt_tokens",
                _count(cost.prompt_tokens_per_record),
                _whole(cost.prompt_tokens_per_day),
            ),
            (
                "completion_tokens",
                _count(cost.completion_tokens_per_record),
                _whole(cost.completion_tokens_per_day),
            ),
            ("core_seconds", cost.core_seconds_per_record, _whole(cost.core_seconds_per_day)),
        ],
    )
    if cost.seen_seconds is not None:
        out.print(f"a day is reckoned from the arrivals of {duration(cost.seen_seconds)}")
    _print_attribution(cost.attribution)
    _print_evaluation(found.evaluation)
    for line in found.advice:
        note(f"→ {line}")
    if not found.advice:
        note("all is well")


def _whole(value: float | None) -> Text | None:
    """A large count; what is reckoned from a few minutes is not known to the thousandth."""
    return None if value is None else Text(f"{value:,.0f}", justify="right")


def _count(value: float | None) -> Text | None:
    """A mean of counts: without decimals where it is whole or large.

    >>> str(_count(240.0)), str(_count(2.5))
    ('240', '2.500')
    """
    if value is None or value == round(value) or value >= LARGE:
        return _whole(value)
    return Text(number(value), justify="right")


def _print_attribution(cost: AttributionCost) -> None:
    out.print(Text("\nWhat explaining costs on top of it", style="bold"))
    if cost.in_breach:
        out.print("beside these, every record of a series in a breach is explained")
    if not cost.share:
        out.print("nothing now: attribution.methods, share and above_hss explain no record")
        return
    known = "measured" if cost.evaluations_measured else "at most"
    table(
        ["", "an explained record", "a day"],
        [
            (
                "explained records",
                f"{cost.share:.0%} of the scored",
                _whole(cost.explained_per_day),
            ),
            ("explanations", str(cost.explanations_per_record), None),
            (f"evaluations ({known})", _count(cost.evaluations_per_record), None),
            ("calls", _count(cost.calls_per_record), _whole(cost.calls_per_day)),
            ("seconds of a scorer", cost.seconds_per_record, _whole(cost.seconds_per_day)),
        ],
    )


def _print_evaluation(found: EvaluationState) -> None:
    out.print(Text("\nDrift and thresholds", style="bold"))
    last = "never" if found.evaluated_at is None else f"{found.evaluated_at:%H:%M:%S}"
    if found.running:
        out.print(cell(f"judged by {found.holder}, last at {last}"))
    else:
        out.print(cell(f"not being judged; last: {last}"))
