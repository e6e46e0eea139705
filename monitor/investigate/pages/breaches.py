"""`/breaches`: the list, and each breach with its course, its releases and its records."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from monitor.breaches.lifecycle import live_precision
from monitor.findings import BREACH_STATES
from monitor.investigate import drawing
from monitor.investigate.breach import breach_facts
from monitor.investigate.filters import BREACH_FIELDS, asked, breach_filter, unfolded
from monitor.investigate.pages.showing import PAGE_ROWS, Showing
from monitor.investigate.problems import NotStored


def breach_pages(showing: Showing) -> APIRouter:
    """The pages of breaches."""
    router, sources = showing.router(), showing.sources

    @router.get("/breaches")
    def show_breaches(request: Request) -> Response:
        wanted = unfolded(request.query_params, showing.series_known)
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
        return showing.page(
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
        return showing.page(
            request,
            "breach.html",
            here="/breaches",
            facts=facts,
            course_picture=drawing.breach_course(facts),
            spread_picture=drawing.breach_spread(facts),
        )

    return router
