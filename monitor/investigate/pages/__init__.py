"""The pages: facts in, HTML out. They work without a script and load nothing from elsewhere."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from monitor.investigate.api import api_router
from monitor.investigate.overview import overview
from monitor.investigate.pages.breaches import breach_pages
from monitor.investigate.pages.drift import drift_pages
from monitor.investigate.pages.marks import mark_forms
from monitor.investigate.pages.records import record_pages
from monitor.investigate.pages.showing import Showing
from monitor.investigate.pages.static import static_files
from monitor.investigate.sources import Sources


def pages_router(sources: Sources) -> APIRouter:
    """`/`, `/breaches`, `/drift`, `/records`, what they load, and `/api/…` with the same facts."""
    showing = Showing(sources)
    start = showing.router()

    @start.get("/")
    def show_overview(request: Request) -> Response:
        return showing.page(request, "overview.html", here="/", facts=overview(sources))

    router = APIRouter()
    router.include_router(start)
    for pages in (breach_pages, mark_forms, drift_pages, record_pages, static_files):
        router.include_router(pages(showing))
    router.include_router(api_router(sources))
    return router
