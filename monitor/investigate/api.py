"""The facts of the pages as JSON, described by OpenAPI."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from monitor.access.visitor import Visitor, visitor_of
from monitor.errors import UsageError
from monitor.findings import BreachContributor, BreachRow, Series
from monitor.investigate.breach import BreachFacts, breach_facts
from monitor.investigate.drift import DriftList, SeriesDrift, drift_list, series_drift
from monitor.investigate.filters import breach_filter, record_filter
from monitor.investigate.overview import Overview, overview
from monitor.investigate.problems import JsonRoute, NotStored
from monitor.investigate.record import record_facts
from monitor.investigate.record_parts import RecordFacts
from monitor.investigate.sources import Sources
from monitor.storage.breach_store import BreachPage
from monitor.storage.paging import MAX_PAGE
from monitor.storage.search import SearchPage, search_records

Seen = Annotated[Visitor, Depends(visitor_of)]
Time = Annotated[str | None, Query(description="2h, 30m, 7d ago, or 2026-01-31T12:00Z")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
After = Annotated[str | None, Query(description="The `next` of the page before")]


class Acknowledgement(BaseModel):
    """Somebody has seen a breach."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=100)
    note: str = Field("", max_length=2000)


class Mark(BaseModel):
    """Whether a record was rightly in a breach."""

    model_config = ConfigDict(extra="forbid")

    record_id: str
    right: bool
    name: str = Field(max_length=100)


def api_router(sources: Sources) -> APIRouter:
    """`/api/overview`, `/api/breaches`, `/api/drift` and `/api/records`."""
    router = APIRouter(prefix="/api", tags=["investigate"], route_class=JsonRoute)

    @router.get("/overview")
    def get_overview() -> Overview:
        """Every series with its means, state and open breaches."""
        return overview(sources)

    @router.get("/breaches")
    def get_breaches(
        service: str | None = None,
        model: str | None = None,
        category: str | None = None,
        threshold: str | None = None,
        state: Annotated[str | None, Query(description="open or resolved")] = None,
        since: Time = None,
        until: Time = None,
        limit: Limit = 50,
        after: After = None,
    ) -> BreachPage:
        """Breaches, newest first."""
        wanted = breach_filter(
            _given(
                service=service,
                model=model,
                category=category,
                threshold=threshold,
                state=state,
                since=since,
                until=until,
            ),
            now=sources.clock(),
        )
        return sources.breaches.list_breaches(wanted, limit=limit, after=after)

    @router.get("/breaches/{breach_id}")
    def get_breach(breach_id: str) -> BreachFacts:
        """One breach: before and after, releases, records."""
        facts = breach_facts(sources, breach_id)
        if facts is None:
            raise NotStored(f"breach: {breach_id!r} is not stored")
        return facts

    @router.post("/breaches/{breach_id}/acknowledge")
    def acknowledge(breach_id: str, said: Acknowledgement) -> BreachRow:
        """Note who has seen a breach; the last one counts."""
        _require_stored(sources, breach_id)
        return sources.breaches.acknowledge(breach_id, name=said.name, note=said.note)

    @router.post("/breaches/{breach_id}/mark")
    def mark(breach_id: str, said: Mark) -> BreachContributor:
        """Note whether a record was rightly in a breach; the last mark counts."""
        _require_stored(sources, breach_id)
        return sources.breaches.mark(breach_id, said.record_id, right=said.right, name=said.name)

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

    @router.get("/records")
    def get_records(
        visitor: Seen,
        service: str | None = None,
        model: str | None = None,
        category: str | None = None,
        release: str | None = None,
        state: str | None = None,
        reason: str | None = None,
        since: Time = None,
        until: Time = None,
        min_hss: Annotated[float | None, Query(ge=0, le=1)] = None,
        trace_id: str | None = None,
        text: Annotated[str | None, Query(max_length=200)] = None,
        limit: Limit = 50,
        after: After = None,
    ) -> SearchPage:
        """Records, newest first. A page may end before `limit` where its search took long:
        go on with `next`."""
        if text and not visitor.sees_texts:
            raise UsageError("text: texts are shown to investigators only")
        wanted = record_filter(
            _given(
                service=service,
                model=model,
                category=category,
                release=release,
                state=state,
                reason=reason,
                since=since,
                until=until,
                min_hss=None if min_hss is None else repr(min_hss),
                trace_id=trace_id,
            ),
            now=sources.clock(),
        )
        return search_records(sources.database, wanted, text=text, limit=limit, after=after)

    @router.get("/records/{record_id:path}")
    def get_record(visitor: Seen, record_id: str) -> RecordFacts:
        """Everything about one record; texts where this reader may see them."""
        facts = record_facts(sources, record_id, texts=visitor.sees_texts)
        if facts is None:
            raise NotStored(f"record: {record_id!r} is not stored")
        if facts.holds_texts:
            sources.audit.viewed(record_id, role=visitor.title, viewer=visitor.name, channel="api")
        return facts

    return router


def _require_stored(sources: Sources, breach_id: str) -> None:
    if sources.breaches.breach(breach_id) is None:
        raise NotStored(f"breach: {breach_id!r} is not stored")


def _given(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}
