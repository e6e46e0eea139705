"""What jobs read from and write back to finished records.

Counting (`take_unobserved`), the distances that a calibration is made of
(`reference_distances`), and the new scores that it gives to old records
(`apply_normalization`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlalchemy as sa

from monitor.findings import Series
from monitor.ports import Clock
from monitor.records import FinishedRecord, RecordState, Severity
from monitor.storage.engine import Database
from monitor.storage.finished import take_unobserved
from monitor.storage.reference_documents import (
    PAGE,
    ReferenceDocument,
    ReferenceWindow,
    documents_where,
    measured,
)
from monitor.storage.tables import records, scores


class Repository:
    """Finished records, for the jobs of front and scorers."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def take_unobserved(self, front: str, limit: int = PAGE) -> list[FinishedRecord]:
        """Final records of a front that it has not counted yet, oldest end first.

        They are marked in the same transaction, so each is returned once in its life:
        after a restart counting goes on where it stopped.
        """
        return take_unobserved(self._database, front, limit=limit, clock=self._clock)

    def reference_distances(
        self, window: ReferenceWindow, *, fingerprint: str
    ) -> Iterator[ReferenceDocument]:
        """Scored documents of a window, by (received_at, id), page by page.

        Only documents that were scored under `fingerprint` and have at least one distance:
        distances of different settings are not comparable.
        """
        terms = [scores.c.fingerprint == fingerprint, *measured(window)]
        return documents_where(self._database, terms)

    def fingerprints(self, window: ReferenceWindow) -> dict[str, int]:
        """How many scored documents of a window with a distance each fingerprint has."""
        statement = (
            sa.select(scores.c.fingerprint, sa.func.count())
            .select_from(records.join(scores))
            .where(*measured(window))
            .group_by(scores.c.fingerprint)
            .order_by(scores.c.fingerprint)
        )
        with self._database.read() as connection:
            return dict(connection.execute(statement).all())

    def measured_series(self, window: ReferenceWindow, *, fingerprint: str) -> frozenset[Series]:
        """The series of the documents that `reference_distances` gives."""
        category: sa.ColumnElement[str] = sa.func.coalesce(records.c.category, "", type_=sa.Text())
        statement = (
            sa.select(records.c.service, records.c.model, category)
            .select_from(records.join(scores))
            .where(scores.c.fingerprint == fingerprint, *measured(window))
            .distinct()
        )
        with self._database.read() as connection:
            return frozenset(
                Series(service=service, model=model, category=category)
                for service, model, category in connection.execute(statement)
            )

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
