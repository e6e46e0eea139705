"""Facts to HTML: what every page is shown with, and what is shown where there is nothing."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from monitor.access.visitor import visitor_of
from monitor.findings import Series
from monitor.investigate.problems import page_route
from monitor.investigate.rendering import environment, render
from monitor.investigate.sources import Sources
from monitor.storage.search import known_series

PAGE_ROWS: Final = 50
"""Of a list, before a link leads on."""


class Showing:
    """Renders the templates; routers get what they read from here too."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._templates = environment()

    def page(
        self, request: Request, name: str, *, here: str, status: int = 200, **context: Any
    ) -> HTMLResponse:
        """A template with its facts; `here` is the entry of the menu that it belongs to."""
        page = render(
            self._templates,
            name,
            now=self.sources.clock(),
            here=here,
            request=request,
            visitor=visitor_of(request),
            **context,
        )
        return HTMLResponse(page, status)

    def problem(self, request: Request, status: int, title: str, told: str) -> Response:
        """What is shown in place of a page."""
        return self.page(request, "problem.html", here="", status=status, title=title, problem=told)

    def router(self) -> APIRouter:
        """An empty router whose problems are pages."""
        return APIRouter(include_in_schema=False, route_class=page_route(self.problem))

    def series_known(self) -> list[Series]:
        """Every series that has a record."""
        return known_series(self.sources.database)
