"""The tables of records and their results, once, for both databases.

`shared_tables` holds the rest; the same `metadata` describes all of them.

Child rows go with their record (`ON DELETE CASCADE`). Calibrations are named by scores
without a foreign key: a score must never be refused because the calibration it was made
with was not stored in this database.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Named,
    Table,
    TypedColumns,
    text,
)

from monitor.records import AttributionMethod, FloatArray, Reason, RecordState, Strength
from monitor.storage.content import ContentMode
from monitor.storage.types import CleanText, Identifier, Json, Matrix, Real, UtcDateTime, Word

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

FINAL_STATES = (RecordState.SCORED, RecordState.SKIPPED, RecordState.FAILED)


def _one_of(column: str, words: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(str(word)) for word in words)})"


IS_OPEN = "finished_at IS NULL"
"""Not in terms of `state`: SQLite would then take the index on states and sort the whole
backlog for every claim."""
IS_UNOBSERVED = "observed_at IS NULL AND finished_at IS NOT NULL"
IS_ERASABLE = "erased_at IS NULL AND finished_at IS NOT NULL"
ERASED: Mapping[str, None] = {
    "document": None,
    "summary": None,
    "request": None,
    "alternatives": None,
    "sealed": None,
}
"""What erasing the content of a record sets."""


class RecordColumns(TypedColumns):
    """One sampled record, from its arrival to its end."""

    id: Named[str] = Column(Identifier(), primary_key=True)
    state: Named[RecordState] = Column(Word(RecordState))
    reason: Named[Reason | None] = Column(Word(Reason))
    detail: Named[str] = Column(CleanText())

    service: Named[str] = Column(CleanText())
    model: Named[str] = Column(CleanText())
    category: Named[str | None] = Column(CleanText())
    """As known on arrival, then as the scorer decided."""
    release: Named[str | None] = Column(CleanText())
    trace_id: Named[str | None] = Column(CleanText())
    span_id: Named[str | None] = Column(CleanText())
    received_at: Named[datetime] = Column(UtcDateTime("received_at"))
    started_at: Named[datetime | None] = Column(UtcDateTime("started_at"))
    finished_at: Named[datetime | None] = Column(UtcDateTime("finished_at"))

    content_mode: Named[ContentMode] = Column(Word(ContentMode))
    document: Named[str | None] = Column(CleanText())
    summary: Named[str | None] = Column(CleanText())
    request: Named[Any] = Column(Json("request"), nullable=True)
    alternatives: Named[Any] = Column(Json("alternatives"), nullable=True)
    sealed: Named[bytes | None] = Column(LargeBinary())
    """All of the above, encrypted, in `hash_only`; erased when the record is final."""
    document_hash: Named[str] = Column(CleanText())
    summary_hash: Named[str] = Column(CleanText())
    content_bytes: Named[int] = Column(BigInteger())
    """What the record and its parts weigh, nearly: the size cap on PostgreSQL counts it."""
    erased_at: Named[datetime | None] = Column(UtcDateTime("erased_at"))

    stratum_service: Named[str] = Column(CleanText())
    stratum_model: Named[str] = Column(CleanText())
    stratum_category: Named[str] = Column(CleanText())
    probability: Named[float] = Column(Real("probability"))
    """π; the record weighs 1/π."""
    upstream_probability: Named[float] = Column(Real("upstream_probability"))
    epoch: Named[int] = Column(Integer())
    front: Named[str] = Column(CleanText())
    observed_at: Named[datetime | None] = Column(UtcDateTime("observed_at"))
    """When its front counted it; NULL until then."""

    attempts: Named[int] = Column(Integer())
    lease_token: Named[str | None] = Column(CleanText())
    """Kept after the end, so that a repeated `finish` is told from a stale one."""
    lease_worker: Named[str | None] = Column(CleanText())
    lease_until: Named[datetime | None] = Column(UtcDateTime("lease_until"))
    not_before: Named[datetime] = Column(UtcDateTime("not_before"))
    """When a scorer may claim it: for a leased record the end of the lease."""


records = Table(
    "records",
    metadata,
    RecordColumns,
    CheckConstraint(_one_of("state", tuple(RecordState)), name="state"),
    CheckConstraint("probability > 0 AND probability <= 1", name="probability"),
    Index("ix_records_received", "received_at", "id"),
    Index("ix_records_state", "state", "received_at", "id"),
    Index("ix_records_series", "service", "model", "category", "received_at", "id"),
    Index("ix_records_span", "trace_id", "span_id"),
    Index(
        "ix_records_open",
        "received_at",
        "id",
        sqlite_where=text(IS_OPEN),
        postgresql_where=text(IS_OPEN),
    ),
    Index(
        "ix_records_unobserved",
        "front",
        "finished_at",
        sqlite_where=text(IS_UNOBSERVED),
        postgresql_where=text(IS_UNOBSERVED),
    ),
    Index(
        "ix_records_erasable",
        "received_at",
        "id",
        sqlite_where=text(IS_ERASABLE),
        postgresql_where=text(IS_ERASABLE),
    ),
)


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
perturbations = Table("perturbations", metadata, PerturbationColumns)
null_runs = Table("null_runs", metadata, NullRunColumns)
