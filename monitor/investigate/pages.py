"""The pages: facts in, HTML out. They work without a script and load nothing from elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.access.cross_site import form_fields
from monitor.access.visitor import Visitor, visitor_of
from monitor.breaches.lifecycle import live_precision
from monitor.errors import UsageError
from monitor.findings import BREACH_STATES, Series
from monitor.investigate import drawing
from monitor.investigate.api import api_router
from monitor.investigate.breach import breach_facts
from monitor.investigate.drift import WORST_FIRST, drift_list, series_drift
from monitor.investigate.filters import (
    BREACH_FIELDS,
    DRIFT_FIELDS,
    RECORD_FIELDS,
    asked,
    breach_filter,
    record_filter,
    unfolded,
)
from monitor.investigate.overview import overview
from monitor.investigate.problems import NotStored, page_route, read_body
from monitor.investigate.record import record_facts
from monitor.investigate.rendering import STATIC, environment, render, segment, static_file
from monitor.investigate.sources import Sources
from monitor.records import Reason, RecordState
from monitor.storage.search import SCAN_TEXTS, known_series, search_records

PAGE_ROWS: Final = 50
_A_YEAR: Final = "public, max-age=31536000, immutable"
Seen = Annotated[Visitor, Depends(visitor_of)]


def pages_router(sources: Sources) -> APIRouter:
    """`/`, `/breaches`, `/drift`, `/records`, what they load, and `/api/…` with the same facts."""
    templates = environment()

    def show(
        request: Request, name: str, *, here: str, status: int = 200, **context: Any
    ) -> HTMLResponse:
        visitor = visitor_of(request)
        page = render(
            templates,
            name,
            now=sources.clock(),
            here=here,
            request=request,
            visitor=visitor,
            **context,
        )
        return HTMLResponse(page, status)

    def series_known() -> list[Series]:
        return known_series(sources.database)

    def problem(request: Request, status: int, title: str, told: str) -> Response:
        return show(request, "problem.html", here="", status=status, title=title, problem=told)

    router = APIRouter(include_in_schema=False, route_class=page_route(problem))

    @router.get("/")
    def show_overview(request: Request) -> Response:
        return show(request, "overview.html", here="/", facts=overview(sources))

    @router.get("/breaches")
    def show_breaches(request: Request) -> Response:
        wanted = unfolded(request.query_params, series_known)
        query = wanted.query
        page = sources.breaches.list_breaches(
            breach_filter(query, now=sources.clock()),
            limit=PAGE_ROWS,
            after=query.get("after") or None,
        )
        marks = [
            (each.threshold, each.true, live_precision(true=each.true, false=each.false))
            for each in sources.breaches.mark_counts()
        ]
        return show(
            request,
            "breaches.html",
            here="/breaches",
            page=page,
            asked=asked(query, BREACH_FIELDS),
            folded=wanted.folded,
            states=BREACH_STATES,
            marks=marks,
        )

    @router.get("/breaches/{breach_id}")
    def show_breach(request: Request, breach_id: str) -> Response:
        facts = breach_facts(sources, breach_id)
        if facts is None:
            raise NotStored(f"breach: {breach_id!r} is not stored")
        return show(
            request,
            "breach.html",
            here="/breaches",
            facts=facts,
            course_picture=drawing.breach_course(facts),
            spread_picture=drawing.breach_spread(facts),
        )

    @router.post("/breaches/{breach_id}/acknowledge")
    async def acknowledge(request: Request, breach_id: str) -> Response:
        form = form_fields(await read_body(request))
        await run_in_threadpool(
            sources.breaches.acknowledge,
            breach_id,
            name=_short(form, "name", 100),
            note=_short(form, "note", 2000),
        )
        return RedirectResponse(f"/breaches/{segment(breach_id)}", 303)

    @router.post("/breaches/{breach_id}/mark")
    async def mark(request: Request, breach_id: str) -> Response:
        form = form_fields(await read_body(request))
        right = "right" in form
        record_id = form.get("right") or form.get("wrong") or ""
        await run_in_threadpool(
            sources.breaches.mark,
            breach_id,
            record_id,
            right=right,
            name=_short(form, "name", 100),
        )
        return RedirectResponse(f"/breaches/{segment(breach_id)}#contributors", 303)

    @router.get("/drift")
    def show_drift(request: Request) -> Response:
        wanted = unfolded(request.query_params, series_known)
        query = wanted.query
        if {"service", "model", "category"} <= set(query):
            series = Series(
                service=query["service"], model=query["model"], category=query["category"]
            )
            facts = series_drift(sources, series)
            if facts is None:
                raise NotStored("series: nothing watches it, so there is no verdict")
            return show(
                request,
                "series_drift.html",
                here="/drift",
                facts=facts,
                course_picture=drawing.drift_course,
                spread_picture=drawing.drift_spread,
            )
        fields = asked(query, DRIFT_FIELDS)
        listed = drift_list(sources, **{name: value or None for name, value in fields.items()})
        return show(
            request,
            "drift.html",
            here="/drift",
            facts=listed,
            asked=fields,
            states=WORST_FIRST,
            folded=wanted.folded,
        )

    @router.get("/records")
    def show_records(request: Request, visitor: Seen) -> Response:
        series = series_known()
        wanted = unfolded(request.query_params, lambda: series)
        query = wanted.query
        text = query.get("text", "").strip()
        if text and not visitor.sees_texts:
            raise UsageError("text: texts are shown to investigators only")
        page = search_records(
            sources.database,
            record_filter(query, now=sources.clock()),
            text=text or None,
            limit=PAGE_ROWS,
            after=query.get("after") or None,
            series=series,
        )
        return show(
            request,
            "records.html",
            here="/records",
            page=page,
            asked=asked(query, RECORD_FIELDS),
            folded=wanted.folded,
            budget=SCAN_TEXTS,
            states=list(RecordState),
            reasons=list(Reason),
            names={
                "service": sorted({each.service for each in series}),
                "model": sorted({each.model for each in series}),
                "category": sorted({each.category for each in series if each.category}),
            },
        )

    @router.get("/records/{record_id:path}")
    def show_record(request: Request, visitor: Seen, record_id: str) -> Response:
        facts = record_facts(sources, record_id, texts=visitor.sees_texts)
        if facts is None:
            raise NotStored(f"record: {record_id!r} is not stored, or not any more")
        if facts.holds_texts:
            sources.audit.viewed(record_id, role=visitor.title, viewer=visitor.name, channel="page")
        return show(
            request,
            "record.html",
            here="/records",
            facts=facts,
            series=facts.series,
            scale=drawing.record_scale(facts),
            alone=False,
        )

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in STATIC:
            raise NotStored(f"static: {name!r} is none of our files")
        headers = {"Cache-Control": _A_YEAR}
        return Response(static_file(name), media_type=STATIC[name], headers=headers)

    @router.get("/favicon.ico")
    def favicon() -> Response:
        return RedirectResponse("/static/icon.svg")

    both = APIRouter()
    both.include_router(router)
    both.include_router(api_router(sources))
    return both


def _short(form: dict[str, str], field: str, most: int) -> str:
    value = form.get(field, "")
    if len(value) > most:
        raise UsageError(f"{field}: {len(value)} characters; write at most {most}")
    return value
