"""The forms of a breach: acknowledge it, and say which of its records were rightly in it."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from monitor.access.cross_site import form_fields
from monitor.errors import UsageError
from monitor.investigate.pages.showing import Showing
from monitor.investigate.problems import read_body
from monitor.investigate.rendering import segment

MOST_NAME: Final = 100
"""Characters of a name."""


def mark_forms(showing: Showing) -> APIRouter:
    """What the buttons of a breach's page send; the answer leads back to that page."""
    router, breaches = showing.router(), showing.sources.breaches

    @router.post("/breaches/{breach_id}/acknowledge")
    async def acknowledge(request: Request, breach_id: str) -> Response:
        form = form_fields(await read_body(request))
        await run_in_threadpool(
            breaches.acknowledge,
            breach_id,
            name=_short(form, "name", MOST_NAME),
            note=_short(form, "note", 2000),
        )
        return RedirectResponse(f"/breaches/{segment(breach_id)}", 303)

    @router.post("/breaches/{breach_id}/mark")
    async def mark(request: Request, breach_id: str) -> Response:
        form = form_fields(await read_body(request))
        right = "right" in form
        record_id = form.get("right") or form.get("wrong") or ""
        name = _short(form, "name", MOST_NAME)
        await run_in_threadpool(breaches.mark, breach_id, record_id, right=right, name=name)
        # The page fills it in again: there are ten records to mark.
        query = urlencode({"name": name})
        return RedirectResponse(f"/breaches/{segment(breach_id)}?{query}#contributors", 303)

    return router


def _short(form: dict[str, str], field: str, most: int) -> str:
    value = form.get(field, "")
    if len(value) > most:
        raise UsageError(f"{field}: {len(value)} characters; write at most {most}")
    return value
