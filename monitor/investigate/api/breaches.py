"""`/api/breaches`: the list, and everything about one breach."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from monitor.investigate.api.asking import After, Limit, Time, given
from monitor.investigate.breach import BreachFacts, breach_facts
from monitor.investigate.filters import breach_filter
from monitor.investigate.problems import JsonRoute, NotStored
from monitor.investigate.sources import Sources
from monitor.storage.breach_list import BreachPage


def breach_api(sources: Sources) -> APIRouter:
    """What the pages of breaches show."""
    router = APIRouter(route_class=JsonRoute)

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
            given(
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

    return router
