"""The facts of the pages as JSON, described by OpenAPI."""

from __future__ import annotations

from fastapi import APIRouter

from monitor.investigate.api.breaches import breach_api
from monitor.investigate.api.drift import drift_api
from monitor.investigate.api.marks import mark_api
from monitor.investigate.api.records import record_api
from monitor.investigate.overview import overview
from monitor.investigate.overview_parts import Overview
from monitor.investigate.problems import JsonRoute
from monitor.investigate.sources import Sources


def api_router(sources: Sources) -> APIRouter:
    """`/api/overview`, `/api/breaches`, `/api/drift` and `/api/records`."""
    router = APIRouter(prefix="/api", tags=["investigate"], route_class=JsonRoute)

    @router.get("/overview")
    def get_overview() -> Overview:
        """Every series with its means, state and open breaches."""
        return overview(sources)

    for facts in (breach_api, mark_api, drift_api, record_api):
        router.include_router(facts(sources))
    return router
