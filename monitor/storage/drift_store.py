"""References, the state of the e-detectors, the verdicts on drift, and how they changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from monitor.findings import (
    DriftChange,
    DriftFinding,
    EvaluatorLease,
    Series,
    StoredReference,
    WatchState,
)
from monitor.ports import Clock
from monitor.storage import drift_rows
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.finding_tables import (
    drift_changes,
    drift_findings,
    drift_references,
    watch_states,
)
from monitor.storage.lease import require_lease
from monitor.storage.paging import check_limit
from monitor.storage.series_columns import series_of
from monitor.storage.shared_tables import calibrations
from monitor.storage.upsert import upsert

_SERIES = (drift_references.c.service, drift_references.c.model, drift_references.c.category)


class SqlDriftStore:
    """What drift needs to go on, and what it has found; on either database.

    Every method raises `DatabaseUnavailable` where the database does not answer.
    """

    def __init__(self, database: Database, *, clock: Clock | None = None) -> None:
        """Without a clock `save` takes a lease that ran out for held, until it is taken over."""
        self._database = database
        self._clock = clock

    def save_references(self, references: Sequence[StoredReference]) -> None:
        """Store the references of a calibration; one that is stored already stays as it is."""
        rows = [drift_rows.reference_row(reference) for reference in references]
        with self._database.write() as connection:
            upsert(connection, drift_references, rows, keep=drift_references.columns.keys())

    def references(self, calibration_id: str | None = None) -> list[StoredReference]:
        """Those of one calibration, by series and signal; None: of every active one."""
        wanted = drift_references.c.calibration_id == calibration_id
        if calibration_id is None:
            active = sa.select(calibrations.c.id).where(calibrations.c.active)
            wanted = drift_references.c.calibration_id.in_(active)
        statement = (
            sa.select(drift_references).where(wanted).order_by(*drift_references.primary_key)
        )
        with self._database.read() as connection:
            return [drift_rows.reference(row) for row in connection.execute(statement)]

    def uncovered(self, calibration_id: str) -> list[Series]:
        """Series that lose their reference when this calibration takes the place of another.

        Those with a usable reference in the active calibration of the same fingerprint and with
        none in this one, by name.
        """
        usable = sa.select(*_SERIES).where(drift_references.c.fitted.is_not(None)).distinct()
        fingerprint = sa.select(calibrations.c.fingerprint).where(
            calibrations.c.id == calibration_id
        )
        replaced = sa.select(calibrations.c.id).where(
            calibrations.c.active,
            calibrations.c.fingerprint.in_(fingerprint),
        )
        with self._database.read() as connection:
            before, after = (
                {
                    series_of(row)
                    for row in connection.execute(
                        usable.where(drift_references.c.calibration_id.in_(ids))
                    )
                }
                for ids in (replaced, [calibration_id])
            )
        return sorted(before - after)

    def watch_states(self) -> list[WatchState]:
        """All of them, by series and signal."""
        statement = sa.select(watch_states).order_by(*watch_states.primary_key)
        with self._database.read() as connection:
            return [drift_rows.watch_state(row) for row in connection.execute(statement)]

    def save(
        self,
        lease: EvaluatorLease,
        *,
        states: Sequence[WatchState],
        findings: Sequence[DriftFinding],
        changes: Sequence[DriftChange],
    ) -> None:
        """Store one evaluation as a whole: states with their cursors, verdicts and changes.

        States and verdicts replace those of the same series and signal, others stay. Saved
        again the same changes are stored once. Raises `LeaseLost`; then nothing was written.
        """
        now = None if self._clock is None else self._clock()
        with self._database.write() as connection:
            require_lease(connection, lease, now=now)
            upsert(connection, watch_states, [drift_rows.state_row(state) for state in states])
            upsert(
                connection,
                drift_findings,
                [drift_rows.finding_row(finding) for finding in findings],
            )
            upsert(connection, drift_changes, [drift_rows.change_row(change) for change in changes])

    def findings(
        self,
        *,
        service: str | None = None,
        model: str | None = None,
        category: str | None = None,
        signal: str | None = None,
        state: str | None = None,
    ) -> list[DriftFinding]:
        """The present verdicts, by series and signal; what is None does not restrict."""
        table = drift_findings
        terms = equal(
            table, service=service, model=model, category=category, signal=signal, state=state
        )
        statement = sa.select(table).where(*terms).order_by(*table.primary_key)
        with self._database.read() as connection:
            return [drift_rows.finding(row) for row in connection.execute(statement)]

    def changes(
        self,
        *,
        since: datetime | None = None,
        service: str | None = None,
        model: str | None = None,
        category: str | None = None,
        limit: int = 200,
    ) -> list[DriftChange]:
        """Changes at or after `since`, newest first; raises `UsageError` for a wrong limit."""
        check_limit(limit)
        table = drift_changes
        terms = [
            *equal(table, service=service, model=model, category=category),
            *between(table.c.at, since, None),
        ]
        statement = (
            sa.select(table)
            .where(*terms)
            .order_by(table.c.at.desc(), *table.primary_key)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [drift_rows.change(row) for row in connection.execute(statement)]
