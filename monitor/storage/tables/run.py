"""Re-summaries of one record: of its reworded documents, and of the unchanged one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Integer, Named, Table, TypedColumns

from monitor.records import FloatArray, Reason, Strength
from monitor.storage.tables.naming import metadata
from monitor.storage.types import CleanText, Identifier, Json, Matrix, Real, Word


class RunColumns(TypedColumns):
    """One re-summary, of a perturbed document or of the unchanged one."""

    record_id: Named[str] = Column(
        Identifier(), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True
    )
    number: Named[int] = Column(Integer(), primary_key=True, autoincrement=False)
    distance: Named[float | None] = Column(Real("distance"))
    reason: Named[Reason | None] = Column(Word(Reason))
    detail: Named[str] = Column(CleanText())
    summary: Named[str | None] = Column(CleanText())
    summary_hash: Named[str | None] = Column(CleanText())
    seconds: Named[float] = Column(Real("seconds"))
    prompt_tokens: Named[int | None] = Column(Integer())
    completion_tokens: Named[int | None] = Column(Integer())
    attempts: Named[int] = Column(Integer())
    truncated: Named[bool] = Column(Boolean())


class PerturbationColumns(RunColumns):
    """One reworded document with its summary, distance and transport."""

    strength: Named[Strength] = Column(Word(Strength))
    share: Named[float] = Column(Real("share"))
    reached: Named[bool] = Column(Boolean())
    substitutions: Named[Any] = Column(Json("substitutions"), nullable=False)
    """[[index, original or null, replacement or null, similarity, start], …]."""
    min_cosine: Named[float] = Column(Real("min_cosine"))
    document: Named[str | None] = Column(CleanText())
    document_hash: Named[str] = Column(CleanText())
    plan: Named[FloatArray | None] = Column(Matrix("plan"))
    cost: Named[FloatArray | None] = Column(Matrix("cost"))
    sentences: Named[Any] = Column(Json("sentences"), nullable=True)
    """The columns of the plan."""


class NullRunColumns(RunColumns):
    """One summary of the unchanged document."""

    source: Named[str] = Column(CleanText())


perturbations = Table("perturbations", metadata, PerturbationColumns)
null_runs = Table("null_runs", metadata, NullRunColumns)
