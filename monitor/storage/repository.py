"""What jobs read from and write back to finished records.

Counting (`take_unobserved`), the distances that a calibration is made of
(`reference_distances`), and the new scores that it gives to old records
(`apply_normalization`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from monitor.ports import Clock
from monitor.records import Reason, RecordState, Severity, Strength
from monitor.storage.engine import Database
from monitor.storage.tables import IS_UNOBSERVED, perturbations, records, scores

_PAGE: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedRecord:
    """What the counters and histograms need of one final record."""

    id: str
    trace_id: str | None
    service: str
    model: str
    category: str
    """Empty where none was decided."""
    state: RecordState
    reason: Reason | None
    probability: float
    hss: float | None
    raw_distance: float | None
    null_distance: float | None
    excess: float | None
    entity_support: float | None
    number_support: float | None
    content_word_precision: float | None
    observed_distance: float | None
    mean_share: float | None
    document_words: int | None
    summary_words: int | None
    summac: float | None
    factcc: float | None
    attribution_probability: float | None
    """With which the policy was to explain it; None where it did not."""
    shap_instability: float | None
    shap_reason: Reason | None
    """Why there is no instability; None beside None: the method is not configured."""
    lime_instability: float | None
    lime_reason: Reason | None
    smile_instability: float | None
    smile_reason: Reason | None
    attention_instability: float | None
    attention_reason: Reason | None
    stage_seconds: Mapping[str, float]
    """By stage, in the order in which they ran; empty where no scorer finished it."""
    core_seconds: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceDocument:
    """The distances of one scored document, for a calibration or a re-normalization."""

    record_id: str
    trace_id: str | None
    service: str
    model: str
    category: str
    received_at: datetime
    probability: float
    distances: tuple[float, ...]
    """D_k of the perturbations that have one."""
    strengths: tuple[Strength, ...]
    """The requested band of each."""
    shares: tuple[float, ...]
    """The achieved share of each."""


class Repository:
    """Finished records, for the jobs of front and scorers."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def take_unobserved(self, front: str, limit: int = _PAGE) -> list[FinishedRecord]:
        """Final records of a front that it has not counted yet, oldest end first.

        They are marked in the same transaction, so each is returned once in its life:
        after a restart counting goes on where it stopped.
        """
        ends = (
            sa.select(records.c.id)
            .where(sa.text(IS_UNOBSERVED), records.c.front == front)
            .order_by(records.c.finished_at, records.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.write() as connection:
            ids = list(connection.execute(ends).scalars())
            if not ids:
                return []
            connection.execute(
                sa.update(records).where(records.c.id.in_(ids)).values(observed_at=self._clock())
            )
            rows = connection.execute(
                sa.select(*_finished_columns())
                .select_from(records.outerjoin(scores))
                .where(records.c.id.in_(ids))
                .order_by(records.c.finished_at, records.c.id)
            ).mappings()
            return [
                FinishedRecord(**{**row, "stage_seconds": row["stage_seconds"] or {}})
                for row in rows
            ]

    def reference_distances(
        self,
        *,
        fingerprint: str,
        since: datetime | None = None,
        until: datetime | None = None,
        service: str | None = None,
        model: str | None = None,
        release: str | None = None,
        record_ids: Sequence[str] | None = None,
    ) -> Iterator[ReferenceDocument]:
        """Scored documents received in [since, until), by (received_at, id), page by page.

        Only documents that were scored under `fingerprint` and have at least one distance:
        distances of different settings are not comparable.
        """
        terms = [
            scores.c.fingerprint == fingerprint,
            *_window(since, until, service, model, release),
        ]
        if record_ids is None:
            yield from self._documents(terms)
            return
        for start in range(0, len(record_ids), _PAGE):
            yield from self._documents(
                [*terms, records.c.id.in_(record_ids[start : start + _PAGE])]
            )

    def fingerprints(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        service: str | None = None,
        model: str | None = None,
        release: str | None = None,
    ) -> dict[str, int]:
        """How many scored documents with a distance each fingerprint has in [since, until)."""
        statement = (
            sa.select(scores.c.fingerprint, sa.func.count())
            .select_from(records.join(scores))
            .where(*_window(since, until, service, model, release))
            .group_by(scores.c.fingerprint)
            .order_by(scores.c.fingerprint)
        )
        with self._database.read() as connection:
            return dict(connection.execute(statement).all())

    def apply_normalization(self, calibration_id: str, severities: Mapping[str, Severity]) -> int:
        """Give stored scores the HSS that another calibration makes of their distances.

        The caller computes them from `reference_distances`. One transaction; how many
        scores were changed. Raw distances stay as they are.
        """
        changed = 0
        with self._database.write() as connection:
            for record_id, severity in sorted(severities.items()):
                normalizer = severity.normalizer
                known = connection.execute(
                    sa.update(scores)
                    .where(scores.c.record_id == record_id)
                    .values(
                        hss=severity.hss,
                        hss_low=severity.low,
                        hss_high=severity.high,
                        hss_reason=severity.reason,
                        interval_reason=severity.interval_reason,
                        normalizer=None if normalizer is None else normalizer.value,
                        normalizer_category=None if normalizer is None else normalizer.category,
                        calibration_id=None if normalizer is None else calibration_id,
                    )
                    .returning(scores.c.record_id)
                ).one_or_none()
                if known is None:
                    continue
                changed += 1
                connection.execute(
                    sa.update(records)
                    .where(records.c.id == record_id, records.c.state == RecordState.SCORED)
                    .values(reason=severity.reason)
                )
        return changed

    def _documents(self, terms: Sequence[sa.ColumnElement[bool]]) -> Iterator[ReferenceDocument]:
        statement = (
            sa.select(
                records.c.id,
                records.c.trace_id,
                records.c.service,
                records.c.model,
                sa.func.coalesce(records.c.category, "").label("category"),
                records.c.received_at,
                records.c.probability,
            )
            .join(scores)
            .where(*terms)
            .order_by(records.c.received_at, records.c.id)
            .limit(_PAGE)
        )
        last: tuple[datetime, str] | None = None
        while True:
            page = statement
            if last is not None:
                page = page.where(
                    sa.tuple_(records.c.received_at, records.c.id)
                    > sa.tuple_(
                        sa.literal(last[0], records.c.received_at.type), sa.literal(last[1])
                    )
                )
            # A transaction a page: a long reader would keep SQLite's log from shrinking.
            with self._database.read() as connection:
                rows = connection.execute(page).mappings().all()
                runs = _runs(connection, [row["id"] for row in rows])
            for row in rows:
                values: dict[str, Any] = dict(row)
                found = runs[values["id"]]
                yield ReferenceDocument(
                    record_id=values.pop("id"),
                    **values,
                    distances=tuple(distance for distance, _, _ in found),
                    strengths=tuple(strength for _, strength, _ in found),
                    shares=tuple(share for _, _, share in found),
                )
            if len(rows) < _PAGE:
                return
            last = (rows[-1]["received_at"], rows[-1]["id"])


def _finished_columns() -> list[sa.ColumnElement[Any]]:
    """The columns of `FinishedRecord`, by its fields; what a record has itself comes from there."""
    category: sa.ColumnElement[Any] = sa.func.coalesce(records.c.category, "").label("category")
    names = [name for name in FinishedRecord.__slots__ if name != "category"]
    return [category, *((records if name in records.c else scores).c[name] for name in names)]


def _window(
    since: datetime | None,
    until: datetime | None,
    service: str | None,
    model: str | None,
    release: str | None,
) -> list[sa.ColumnElement[bool]]:
    """Scored records with at least one distance, as far as the window restricts them."""
    terms = [records.c.state == RecordState.SCORED, scores.c.distances > 0]
    if since is not None:
        terms.append(records.c.received_at >= since)
    if until is not None:
        terms.append(records.c.received_at < until)
    if service is not None:
        terms.append(records.c.service == service)
    if model is not None:
        terms.append(records.c.model == model)
    if release is not None:
        terms.append(records.c.release == release)
    return terms


def _runs(
    connection: sa.Connection, record_ids: Sequence[str]
) -> dict[str, list[tuple[float, Strength, float]]]:
    """(distance, strength, share) of the measured perturbations of each record, in order."""
    found: dict[str, list[tuple[float, Strength, float]]] = {key: [] for key in record_ids}
    if not record_ids:
        return found
    statement = (
        sa.select(
            perturbations.c.record_id,
            perturbations.c.distance,
            perturbations.c.strength,
            perturbations.c.share,
        )
        .where(perturbations.c.record_id.in_(record_ids), perturbations.c.distance.is_not(None))
        .order_by(perturbations.c.record_id, perturbations.c.number)
    )
    for record_id, distance, strength, share in connection.execute(statement):
        if distance is not None:
            found[record_id].append((distance, strength, share))
    return found
