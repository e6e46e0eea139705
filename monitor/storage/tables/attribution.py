"""Attributions: what each word of a document is worth, by each method."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ForeignKey, Integer, Named, Table, TypedColumns

from monitor.records import AttributionMethod, FloatArray, Reason
from monitor.storage.tables.naming import metadata
from monitor.storage.types import Identifier, Json, Matrix, Real, Word


class AttributionColumns(TypedColumns):
    """One method on one record: what each word is worth, in the document and its versions."""

    record_id: Named[str] = Column(
        Identifier(), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True
    )
    method: Named[AttributionMethod] = Column(Word(AttributionMethod), primary_key=True)
    instability: Named[float | None] = Column(Real("instability"))
    absolute: Named[float | None] = Column(Real("absolute"))
    one_minus_spearman: Named[float | None] = Column(Real("one_minus_spearman"))
    one_minus_cosine: Named[float | None] = Column(Real("one_minus_cosine"))
    noise_floor: Named[float | None] = Column(Real("noise_floor"))
    compared: Named[int] = Column(Integer())
    evaluations: Named[int] = Column(Integer())
    reason: Named[Reason | None] = Column(Word(Reason))
    explanations: Named[Any] = Column(Json("explanations"), nullable=False)
    """[[number, granularity, distinct values, evaluations, fit, reason], …]: 0 is the document,
    others are numbers of `perturbations`."""
    weights: Named[FloatArray | None] = Column(Matrix("weights"))
    """(explanations without a reason, words), rows in the order of `explanations`."""


attributions = Table("attributions", metadata, AttributionColumns)
