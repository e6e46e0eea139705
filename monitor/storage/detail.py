"""Everything that is stored about one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import RowMapping

from monitor.records import FloatArray, Reason, Strength, UnsupportedFact
from monitor.storage.content import ContentMode
from monitor.storage.engine import Database
from monitor.storage.queries import ROW_COLUMNS, RecordRow
from monitor.storage.tables import null_runs, perturbations, records, scores


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredSubstitution:
    """One replaced word; the words are None where texts are not kept."""

    index: int
    original: str | None
    replacement: str | None
    similarity: float
    start: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRun:
    """One re-summary; its text is None where it failed, was erased or is not kept."""

    number: int
    distance: float | None
    reason: Reason | None
    detail: str
    summary: str | None
    summary_hash: str | None
    seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None
    attempts: int
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPerturbation(StoredRun):
    """One reworded document and how its summary moved."""

    strength: Strength
    share: float
    reached: bool
    substitutions: tuple[StoredSubstitution, ...]
    min_cosine: float
    document: str | None
    document_hash: str
    plan: FloatArray | None
    """(baseline sentences, sentences of this summary), in single precision."""
    cost: FloatArray | None
    sentences: tuple[str, ...] | None
    """Of this summary: the columns of the plan."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredNullRun(StoredRun):
    """One summary of the unchanged document."""

    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredScore:
    """What a scorer found out, less what `RecordRow` has already."""

    scored_at: datetime
    fingerprint: str
    normalizer: float | None
    normalizer_category: str | None
    """None beside a normalizer: the pooled one stood in."""
    hss_reason: Reason | None
    interval_reason: Reason | None
    baseline: str | None
    baseline_summary: str | None
    baseline_hash: str | None
    baseline_sentences: tuple[str, ...] | None
    """The rows of every plan."""
    observed_distance: float | None
    mean_share: float | None
    entity_reason: Reason | None
    number_reason: Reason | None
    entities: int | None
    numbers: int | None
    unsupported: tuple[UnsupportedFact, ...]
    """Their texts are empty where texts are not kept."""
    document_words: int | None
    summary_words: int | None
    stage_seconds: Mapping[str, float]
    core_seconds: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordDetail:
    """One record with all its parts."""

    row: RecordRow
    content_mode: ContentMode
    document: str | None
    summary: str | None
    document_hash: str
    summary_hash: str
    erased_at: datetime | None
    started_at: datetime | None
    front: str
    epoch: int
    upstream_probability: float
    score: StoredScore | None
    """None until a scorer has finished the record."""
    perturbations: tuple[StoredPerturbation, ...]
    null_runs: tuple[StoredNullRun, ...]


def record_detail(database: Database, record_id: str) -> RecordDetail | None:
    """Everything of one record, or None for an unknown id."""
    with database.read() as connection:
        row = (
            connection.execute(
                sa.select(*ROW_COLUMNS)
                .select_from(records.outerjoin(scores))
                .where(records.c.id == record_id)
            )
            .mappings()
            .one_or_none()
        )
        if row is None:
            return None
        record = connection.execute(
            sa.select(
                records.c.content_mode,
                records.c.document,
                records.c.summary,
                records.c.document_hash,
                records.c.summary_hash,
                records.c.erased_at,
                records.c.started_at,
                records.c.front,
                records.c.epoch,
                records.c.upstream_probability,
            ).where(records.c.id == record_id)
        ).mappings()
        parts = dict(record.one())
        score = connection.execute(sa.select(scores).where(scores.c.record_id == record_id))
        found = score.mappings().one_or_none()
        runs = connection.execute(_of(perturbations, record_id)).mappings().all()
        nulls = connection.execute(_of(null_runs, record_id)).mappings().all()
    return RecordDetail(
        row=RecordRow(**row),
        **parts,
        score=None if found is None else _score(found),
        perturbations=tuple(_perturbation(run) for run in runs),
        null_runs=tuple(StoredNullRun(**_run(run), source=run["source"]) for run in nulls),
    )


def _of(table: sa.Table, record_id: str) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(table).where(table.c.record_id == record_id).order_by(table.c.number)


def _score(row: RowMapping) -> StoredScore:
    values = {name: row[name] for name in StoredScore.__slots__}
    values["baseline_sentences"] = _texts(row["baseline_sentences"])
    values["unsupported"] = tuple(
        UnsupportedFact(kind=kind, text=text or "", start=start)
        for kind, text, start in row["unsupported"] or ()
    )
    return StoredScore(**values)


def _perturbation(row: RowMapping) -> StoredPerturbation:
    names = ("strength", "share", "reached", "min_cosine", "document", "document_hash")
    return StoredPerturbation(
        **_run(row),
        **{name: row[name] for name in names},
        plan=row["plan"],
        cost=row["cost"],
        sentences=_texts(row["sentences"]),
        substitutions=tuple(
            StoredSubstitution(
                index=index,
                original=original,
                replacement=replacement,
                similarity=similarity,
                start=start,
            )
            for index, original, replacement, similarity, start in row["substitutions"]
        ),
    )


def _run(row: RowMapping) -> dict[str, Any]:
    return {name: row[name] for name in StoredRun.__slots__}


def _texts(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
