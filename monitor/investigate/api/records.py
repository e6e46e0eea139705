"""`/api/records`: the search, and everything about one record."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from monitor.access.visitor import Visitor, visitor_of
from monitor.errors import UsageError
from monitor.investigate.api.asking import After, Limit, Time, given
from monitor.investigate.filters import record_filter
from monitor.investigate.problems import JsonRoute, NotStored
from monitor.investigate.record import record_facts
from monitor.investigate.record_parts import RecordFacts
from monitor.investigate.sources import Sources
from monitor.storage.search import SearchPage, search_records

Seen = Annotated[Visitor, Depends(visitor_of)]


def record_api(sources: Sources) -> APIRouter:
    """What the pages of records show; whoever is given a text of one is noted."""
    router = APIRouter(route_class=JsonRoute)

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
            given(
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
