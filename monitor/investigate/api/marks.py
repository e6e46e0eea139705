"""`POST /api/breaches/…`: what people say about a breach and its records."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from monitor.findings import BreachContributor, BreachRow
from monitor.investigate.problems import JsonRoute, NotStored
from monitor.investigate.sources import Sources


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


def mark_api(sources: Sources) -> APIRouter:
    """What the forms of a breach's page send."""
    router = APIRouter(route_class=JsonRoute)

    @router.post("/breaches/{breach_id}/acknowledge")
    def acknowledge(breach_id: str, said: Acknowledgement) -> BreachRow:
        """Note who has seen a breach; the note keeps what was said before."""
        _require_stored(sources, breach_id)
        return sources.breaches.acknowledge(breach_id, name=said.name, note=said.note)

    @router.post("/breaches/{breach_id}/mark")
    def mark(breach_id: str, said: Mark) -> BreachContributor:
        """Note whether a record was rightly in a breach; the last mark counts."""
        _require_stored(sources, breach_id)
        return sources.breaches.mark(breach_id, said.record_id, right=said.right, name=said.name)

    return router


def _require_stored(sources: Sources, breach_id: str) -> None:
    if sources.breaches.breach(breach_id) is None:
        raise NotStored(f"breach: {breach_id!r} is not stored")
