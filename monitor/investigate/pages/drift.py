"""`/drift`: verdicts on all series, worst first, and the distributions of one series."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from monitor.findings import Series
from monitor.investigate import drawing
from monitor.investigate.drift import WORST_FIRST, drift_list, series_drift
from monitor.investigate.filters import DRIFT_FIELDS, Unfolded, asked, unfolded
from monitor.investigate.pages.showing import Showing
from monitor.investigate.problems import NotStored


def drift_pages(showing: Showing) -> APIRouter:
    """One address: with service, model and category it is that of a series."""
    router = showing.router()

    @router.get("/drift")
    def show_drift(request: Request) -> Response:
        wanted = unfolded(request.query_params, showing.series_known)
        if {"service", "model", "category"} <= set(wanted.query):
            return _series(showing, request, wanted.query)
        return _list(showing, request, wanted)

    return router


def _series(showing: Showing, request: Request, query: Mapping[str, str]) -> Response:
    series = Series(service=query["service"], model=query["model"], category=query["category"])
    facts = series_drift(showing.sources, series)
    if facts is None:
        raise NotStored("series: nothing watches it, so there is no verdict")
    return showing.page(
        request,
        "series_drift.html",
        here="/drift",
        facts=facts,
        course_picture=drawing.drift_course,
        spread_picture=drawing.drift_spread,
    )


def _list(showing: Showing, request: Request, wanted: Unfolded) -> Response:
    fields = asked(wanted.query, DRIFT_FIELDS)
    given = {name: value or None for name, value in fields.items()}
    return showing.page(
        request,
        "drift.html",
        here="/drift",
        facts=drift_list(showing.sources, **given),
        asked=fields,
        states=WORST_FIRST,
        folded=wanted.folded,
    )
