"""`/static`: the style and the icon that every page loads."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from monitor.investigate.pages.showing import Showing
from monitor.investigate.problems import NotStored
from monitor.investigate.rendering import STATIC, static_file

_A_YEAR: Final = "public, max-age=31536000, immutable"


def static_files(showing: Showing) -> APIRouter:
    """The files of the package; a browser may keep them, for a changed one has another address."""
    router = showing.router()

    @router.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in STATIC:
            raise NotStored(f"static: {name!r} is none of our files")
        headers = {"Cache-Control": _A_YEAR}
        return Response(static_file(name), media_type=STATIC[name], headers=headers)

    @router.get("/favicon.ico")
    def favicon() -> Response:
        return RedirectResponse("/static/icon.svg")

    return router
