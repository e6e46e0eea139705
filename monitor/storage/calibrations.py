"""Calibrations: appended, never changed; what changes is which one is active.

A fingerprint has at most one active calibration of its own and at most one active
provisional one (shipped with the package). The own one wins; when it is deactivated the
provisional one counts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from monitor.errors import UsageError
from monitor.records import Calibration, Normalizer
from monitor.storage.engine import Database
from monitor.storage.shared_tables import calibrations, normalizers


class SqlCalibrationStore:
    """`ports.CalibrationStore` on either database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def active(self, fingerprint: str) -> Calibration | None:
        """See `ports.CalibrationStore.active`."""
        statement = (
            sa.select(calibrations)
            .where(calibrations.c.fingerprint == fingerprint, calibrations.c.active)
            .order_by(calibrations.c.provisional)
            .limit(1)
        )
        with self._database.read() as connection:
            found = _with_normalizers(connection, connection.execute(statement).all())
        return found[0] if found else None

    def add(self, calibration: Calibration, *, activate: bool) -> None:
        """See `ports.CalibrationStore.add`; an id that is stored already is left as it is.

        So every start may add the provisional calibration of the package again.
        """
        with self._database.write() as connection:
            known = sa.select(calibrations.c.id).where(calibrations.c.id == calibration.id)
            if connection.execute(known).first() is not None:
                return
            if activate:
                _deactivate(connection, calibration.fingerprint, calibration.provisional)
            connection.execute(sa.insert(calibrations), _calibration_row(calibration, activate))
            if calibration.normalizers:
                connection.execute(
                    sa.insert(normalizers),
                    [
                        _normalizer_row(calibration.id, number, normalizer)
                        for number, normalizer in enumerate(calibration.normalizers, start=1)
                    ],
                )

    def activate(self, calibration_id: str) -> Calibration:
        """Make a stored calibration the active one of its fingerprint: also the way back.

        Raises `UsageError` for an unknown id.
        """
        with self._database.write() as connection:
            statement = sa.select(calibrations).where(calibrations.c.id == calibration_id)
            found = _with_normalizers(connection, connection.execute(statement).all())
            if not found:
                raise UsageError(
                    f"calibration: {calibration_id!r} is not stored; "
                    "`hss-monitor calibrations list` names those that are"
                )
            _deactivate(connection, found[0].fingerprint, found[0].provisional)
            connection.execute(
                sa.update(calibrations)
                .where(calibrations.c.id == calibration_id)
                .values(active=True)
            )
        return found[0]

    def get(self, calibration_id: str) -> Calibration | None:
        statement = sa.select(calibrations).where(calibrations.c.id == calibration_id)
        with self._database.read() as connection:
            found = _with_normalizers(connection, connection.execute(statement).all())
        return found[0] if found else None

    def in_force(self) -> list[Calibration]:
        """The active ones of all fingerprints, newest first, however many came after them."""
        return [calibration for calibration, _ in self._newest(calibrations.c.active)]

    def all(self, *, limit: int = 200) -> list[tuple[Calibration, bool]]:
        """(calibration, is it active), newest first."""
        return self._newest(sa.true(), limit=limit)

    def _newest(
        self, term: sa.ColumnElement[bool], *, limit: int | None = None
    ) -> list[tuple[Calibration, bool]]:
        statement = (
            sa.select(calibrations)
            .where(term)
            .order_by(calibrations.c.created_at.desc(), calibrations.c.id)
            .limit(limit)
        )
        with self._database.read() as connection:
            rows = connection.execute(statement).all()
            found = _with_normalizers(connection, rows)
        return [(calibration, row.active) for calibration, row in zip(found, rows, strict=True)]


def _deactivate(connection: Connection, fingerprint: str, provisional: bool) -> None:
    connection.execute(
        sa.update(calibrations)
        .where(
            calibrations.c.fingerprint == fingerprint,
            calibrations.c.provisional == provisional,
            calibrations.c.active,
        )
        .values(active=False)
    )


def _with_normalizers(
    connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]
) -> list[Calibration]:
    statement = (
        sa.select(normalizers)
        .where(normalizers.c.calibration_id.in_([row.id for row in rows]))
        .order_by(normalizers.c.calibration_id, normalizers.c.number)
    )
    parts: dict[str, list[Normalizer]] = {row.id: [] for row in rows}
    for part in connection.execute(statement) if rows else ():
        parts[part.calibration_id].append(
            Normalizer(
                category=part.category,
                value=part.value,
                low=part.low,
                high=part.high,
                documents=part.documents,
                distances=part.distances,
            )
        )
    return [
        Calibration(
            id=row.id,
            fingerprint=row.fingerprint,
            settings=row.settings,
            created_at=row.created_at,
            window=row.reference_window,
            since=row.since,
            until=row.until,
            provisional=row.provisional,
            normalizers=tuple(parts[row.id]),
            warnings=tuple(row.warnings),
            release=row.release,
        )
        for row in rows
    ]


def _calibration_row(calibration: Calibration, active: bool) -> dict[str, Any]:
    return {
        "id": calibration.id,
        "fingerprint": calibration.fingerprint,
        "settings": dict(calibration.settings),
        "created_at": calibration.created_at,
        "reference_window": calibration.window,
        "since": calibration.since,
        "until": calibration.until,
        "provisional": calibration.provisional,
        "warnings": list(calibration.warnings),
        "active": active,
        "release": calibration.release,
    }


def _normalizer_row(calibration_id: str, number: int, normalizer: Normalizer) -> dict[str, Any]:
    return {
        "calibration_id": calibration_id,
        "number": number,
        "category": normalizer.category,
        "value": normalizer.value,
        "low": normalizer.low,
        "high": normalizer.high,
        "documents": normalizer.documents,
        "distances": normalizer.distances,
    }
