"""`/records`: the search, and everything about one record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from monitor.access.visitor import Visitor, visitor_of
from monitor.errors import UsageError
from monitor.findings import Series
from monitor.investigate import drawing
from monitor.investigate.filters import RECORD_FIELDS, asked, record_filter, unfolded
from monitor.investigate.pages.showing import PAGE_ROWS, Showing
from monitor.investigate.problems import NotStored
from monitor.investigate.record import record_facts
from monitor.records import Reason, RecordState
from monitor.storage.search import SCAN_TEXTS, search_records

Seen = Annotated[Visitor, Depends(visitor_of)]


def record_pages(showing: Showing) -> APIRouter:
    """The pages of records; whoever sees a text of one is noted."""
    router, sources = showing.router(), showing.sources

    @router.get("/records")
    def show_records(request: Request, visitor: Seen) -> Response:
        series = showing.series_known()
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
        return showing.page(
            request,
            "records.html",
            here="/records",
            page=page,
            asked=asked(query, RECORD_FIELDS),
            folded=wanted.folded,
            budget=SCAN_TEXTS,
            states=list(RecordState),
            reasons=list(Reason),
            names=_names(series),
        )

    @router.get("/records/{record_id:path}")
    def show_record(request: Request, visitor: Seen, record_id: str) -> Response:
        facts = record_facts(sources, record_id, texts=visitor.sees_texts)
        if facts is None:
            raise NotStored(f"record: {record_id!r} is not stored, or not any more")
        if facts.holds_texts:
            sources.audit.viewed(record_id, role=visitor.title, viewer=visitor.name, channel="page")
        return showing.page(
            request,
            "record.html",
            here="/records",
            facts=facts,
            series=facts.series,
            scale=drawing.record_scale(facts),
            alone=False,
        )

    return router


def _names(series: Sequence[Series]) -> dict[str, list[str]]:
    """What the fields of the search may be filled with."""
    return {
        "service": sorted({each.service for each in series}),
        "model": sorted({each.model for each in series}),
        "category": sorted({each.category for each in series if each.category}),
    }
