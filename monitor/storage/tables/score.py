"""Scores: what the pipeline found out about each record that a scorer finished."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Named,
    Table,
    TypedColumns,
)

from monitor.records import Reason
from monitor.storage.tables.naming import metadata
from monitor.storage.types import CleanText, Identifier, Json, Real, UtcDateTime, Word


class ScoreColumns(TypedColumns):
    """What the pipeline found out about one record; one row for every final record that a
    scorer finished, whatever its state."""

    record_id: Named[str] = Column(
        Identifier(), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True
    )
    scored_at: Named[datetime] = Column(UtcDateTime("scored_at"))
    fingerprint: Named[str] = Column(CleanText())
    calibration_id: Named[str | None] = Column(CleanText())
    normalizer: Named[float | None] = Column(Real("normalizer"))
    """M_c that the distances were divided by."""
    normalizer_category: Named[str | None] = Column(CleanText())
    """Its category; NULL beside a value means the pooled one."""
    hss: Named[float | None] = Column(Real("hss"))
    hss_low: Named[float | None] = Column(Real("hss_low"))
    hss_high: Named[float | None] = Column(Real("hss_high"))
    hss_reason: Named[Reason | None] = Column(Word(Reason))
    interval_reason: Named[Reason | None] = Column(Word(Reason))
    raw_distance: Named[float | None] = Column(Real("raw_distance"))
    null_distance: Named[float | None] = Column(Real("null_distance"))
    excess: Named[float | None] = Column(Real("excess"))
    mean_share: Named[float | None] = Column(Real("mean_share"))
    """Mean achieved share of the perturbations that have a distance."""
    distances: Named[int] = Column(Integer())
    """How many perturbations have a distance."""
    baseline: Named[str | None] = Column(CleanText())
    baseline_summary: Named[str | None] = Column(CleanText())
    baseline_hash: Named[str | None] = Column(CleanText())
    baseline_sentences: Named[Any] = Column(Json("baseline_sentences"), nullable=True)
    """The rows of every transport plan of this record."""
    observed_distance: Named[float | None] = Column(Real("observed_distance"))
    entity_support: Named[float | None] = Column(Real("entity_support"))
    entity_reason: Named[Reason | None] = Column(Word(Reason))
    number_support: Named[float | None] = Column(Real("number_support"))
    number_reason: Named[Reason | None] = Column(Word(Reason))
    entities: Named[int | None] = Column(Integer())
    numbers: Named[int | None] = Column(Integer())
    unsupported: Named[Any] = Column(Json("unsupported"), nullable=True)
    """[[kind, text or null, start], …]."""
    checks: Named[Any] = Column(Json("checks"), nullable=True)
    """{check: [value or null, reason or null, detail]} of the factual comparators."""
    content_word_precision: Named[float | None] = Column(Real("content_word_precision"))
    """Out of `checks`, like the next two, because they have window means."""
    summac: Named[float | None] = Column(Real("summac"))
    factcc: Named[float | None] = Column(Real("factcc"))
    attribution_probability: Named[float | None] = Column(Real("attribution_probability"))
    """With which a scored record of this HSS is explained: the record then weighs
    1/(probability · attribution_probability). NULL where it was not selected."""
    attribution_value: Named[str | None] = Column(CleanText())
    """The value function."""
    attribution_spans: Named[Any] = Column(Json("attribution_spans"), nullable=True)
    """[[start, end], …] of the words in the document: the words themselves are not stored
    again, and so go with it."""
    shap_instability: Named[float | None] = Column(Real("shap_instability"))
    shap_noise_floor: Named[float | None] = Column(Real("shap_noise_floor"))
    shap_reason: Named[Reason | None] = Column(Word(Reason))
    """Why there is no instability; NULL beside NULL: the method is not configured."""
    lime_instability: Named[float | None] = Column(Real("lime_instability"))
    lime_noise_floor: Named[float | None] = Column(Real("lime_noise_floor"))
    lime_reason: Named[Reason | None] = Column(Word(Reason))
    smile_instability: Named[float | None] = Column(Real("smile_instability"))
    smile_noise_floor: Named[float | None] = Column(Real("smile_noise_floor"))
    smile_reason: Named[Reason | None] = Column(Word(Reason))
    attention_instability: Named[float | None] = Column(Real("attention_instability"))
    attention_noise_floor: Named[float | None] = Column(Real("attention_noise_floor"))
    attention_reason: Named[Reason | None] = Column(Word(Reason))
    document_words: Named[int | None] = Column(Integer())
    summary_words: Named[int | None] = Column(Integer())
    stage_seconds: Named[Any] = Column(Json("stage_seconds"), nullable=False)
    core_seconds: Named[float | None] = Column(Real("core_seconds"))
    prompt_tokens: Named[int | None] = Column(Integer())
    completion_tokens: Named[int | None] = Column(Integer())
    truncated: Named[bool] = Column(Boolean())


scores = Table(
    "scores",
    metadata,
    ScoreColumns,
    CheckConstraint("hss >= 0 AND hss <= 1", name="hss"),
    Index("ix_scores_scored", "scored_at"),
)
