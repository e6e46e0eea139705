"""Everything that is stored about one record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import RowMapping

from monitor.records import AttributionMethod, Granularity, Reason, UnsupportedFact
from monitor.storage.content import ContentMode
from monitor.storage.detail_parts import (
    StoredAttribution,
    StoredCheck,
    StoredExplanation,
    StoredNullRun,
    StoredPerturbation,
    StoredRun,
    StoredScore,
    StoredSubstitution,
)
from monitor.storage.engine import Database
from monitor.storage.queries import ROW_COLUMNS, RecordRow
from monitor.storage.tables import attributions, null_runs, perturbations, records, scores


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
    attributions: tuple[StoredAttribution, ...]
    """None of a method that is not configured or was not to explain this record."""

    @property
    def words(self) -> tuple[str, ...] | None:
        """The words that attributions are about; None where the document is not kept."""
        if self.document is None or self.score is None:
            return None
        return tuple(self.document[start:end] for start, end in self.score.attribution_spans)


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
        explained = connection.execute(
            sa.select(attributions).where(attributions.c.record_id == record_id)
        ).mappings()
        methods = {row["method"]: row for row in explained}
    return RecordDetail(
        row=RecordRow(**row),
        **parts,
        score=None if found is None else _score(found),
        perturbations=tuple(_perturbation(run) for run in runs),
        null_runs=tuple(StoredNullRun(**_run(run), source=run["source"]) for run in nulls),
        attributions=tuple(
            _attribution(methods[method]) for method in AttributionMethod if method in methods
        ),
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
    values["checks"] = {
        name: StoredCheck(value=value, reason=reason and Reason(reason), detail=detail)
        for name, (value, reason, detail) in (row["checks"] or {}).items()
    }
    values["attribution_spans"] = tuple(
        (start, end) for start, end in row["attribution_spans"] or ()
    )
    return StoredScore(**values)


def _attribution(row: RowMapping) -> StoredAttribution:
    values = {name: row[name] for name in StoredAttribution.__slots__}
    rows = iter(() if row["weights"] is None else row["weights"].tolist())
    values["explanations"] = tuple(
        StoredExplanation(
            number=number,
            values=None if reason else tuple(next(rows)),
            granularity=Granularity(granularity),
            distinct_values=distinct,
            evaluations=evaluations,
            fit=fit,
            reason=reason and Reason(reason),
        )
        for number, granularity, distinct, evaluations, fit, reason in row["explanations"]
    )
    return StoredAttribution(**values)


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
