"""`/breaches`: the list, and each breach with its course, its releases and its records.

`/breaches/latest` is where alerts lead: an alert knows its series and threshold, not the breach.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from monitor.breaches.lifecycle import live_precision
from monitor.findings import BREACH_STATES
from monitor.investigate import drawing
from monitor.investigate.breach import breach_facts
from monitor.investigate.filters import BREACH_FIELDS, asked, breach_filter, unfolded
from monitor.investigate.pages.marks import MOST_NAME
from monitor.investigate.pages.showing import PAGE_ROWS, Showing
from monitor.investigate.problems import NotStored
from monitor.investigate.rendering import segment

OPEN: Final = "open"


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

    @router.get("/breaches/latest")
    def show_latest(request: Request) -> Response:
        """To the breach that an address asks for: the open one, else the last; of several open
        ones to their list."""
        query = unfolded(request.query_params, showing.series_known).query
        wanted = breach_filter(query, now=sources.clock())
        found = sources.breaches.list_breaches(replace(wanted, state=OPEN), limit=2).rows
        if not found:
            found = sources.breaches.list_breaches(wanted, limit=1).rows
        if len(found) == 1:
            return RedirectResponse(f"/breaches/{segment(found[0].id)}", 303)
        return RedirectResponse(f"/breaches?{request.url.query}", 303)

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
            person=request.query_params.get("name", "")[:MOST_NAME],
            course_picture=drawing.breach_course(facts),
            spread_picture=drawing.breach_spread(facts),
        )

    return router
