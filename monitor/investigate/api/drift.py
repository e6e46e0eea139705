"""`/api/drift`: verdicts on all series, and the distributions of one."""

from __future__ import annotations

from fastapi import APIRouter

from monitor.findings import Series
from monitor.investigate.drift import DriftList, SeriesDrift, drift_list, series_drift
from monitor.investigate.problems import JsonRoute, NotStored
from monitor.investigate.sources import Sources


def drift_api(sources: Sources) -> APIRouter:
    """What the pages of drift show."""
    router = APIRouter(route_class=JsonRoute)

    @router.get("/drift")
    def get_drift(
        service: str | None = None,
        model: str | None = None,
        category: str | None = None,
        state: str | None = None,
    ) -> DriftList:
        """Verdicts on every signal of every series, worst first."""
        return drift_list(sources, service=service, model=model, category=category, state=state)

    @router.get("/drift/series")
    def get_series_drift(service: str, model: str, category: str = "") -> SeriesDrift:
        """One series: reference and current distributions of each signal."""
        found = series_drift(sources, Series(service=service, model=model, category=category))
        if found is None:
            raise NotStored("series: nothing watches it; see /api/drift")
        return found

    return router
