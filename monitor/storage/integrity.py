"""Is the database whole, current, and how full is it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from monitor.records import RecordState
from monitor.storage.engine import Database
from monitor.storage.retention import stored_bytes
from monitor.storage.schema import current_revision, head_revision
from monitor.storage.shared_tables import calibrations
from monitor.storage.tables import FINAL_STATES, metadata, records, scores

_SHOWN: Final = 20
"""Problems of one kind that are listed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckReport:
    """What `hss-monitor db check` found."""

    revision: str | None
    """Of the database; None without our tables."""
    needed: str
    """The revision of this version."""
    problems: tuple[str, ...]
    """For people; empty where all is well."""
    rows: Mapping[str, int]
    """By table; empty where the schema is not current."""
    states: Mapping[RecordState, int]
    bytes: int

    @property
    def current(self) -> bool:
        return self.revision == self.needed

    @property
    def ok(self) -> bool:
        return self.current and not self.problems


def check(database: Database) -> CheckReport:
    """Read the whole database and report; changes nothing."""
    revision, needed = current_revision(database), head_revision()
    current = revision == needed
    rows: dict[str, int] = {}
    states: dict[RecordState, int] = {}
    with database.read() as connection:
        problems = _damage(connection)
        if current:
            problems += _contradictions(connection)
            rows = {
                table.name: connection.execute(
                    sa.select(sa.func.count()).select_from(table)
                ).scalar_one()
                for table in metadata.sorted_tables
            }
            by_state = sa.select(records.c.state, sa.func.count()).group_by(records.c.state)
            states = dict(connection.execute(by_state).all())
    return CheckReport(
        revision=revision,
        needed=needed,
        problems=tuple(problems),
        rows=rows,
        states=states,
        bytes=stored_bytes(database) if current else 0,
    )


def _damage(connection: Connection) -> list[str]:
    """What the database itself says about its files."""
    if connection.dialect.name == "sqlite":
        words = connection.exec_driver_sql(f"PRAGMA integrity_check({_SHOWN})").scalars().all()
        orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()[:_SHOWN]
        return [f"integrity_check: {word}" for word in words if word != "ok"] + [
            f"foreign_key_check: a row of {row[0]} has no {row[2]}" for row in orphans
        ]
    invalid = sa.text("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid")
    return [
        f"index {name} is invalid; REINDEX it" for name in connection.execute(invalid).scalars()
    ]


def _contradictions(connection: Connection) -> list[str]:
    """What no transaction of ours leaves behind."""
    scored_without_score = (
        sa.select(sa.func.count())
        .select_from(records.outerjoin(scores))
        .where(records.c.state == RecordState.SCORED, scores.c.record_id.is_(None))
    )
    open_with_end = (
        sa.select(sa.func.count())
        .select_from(records)
        .where(records.c.state.in_(FINAL_STATES) != records.c.finished_at.is_not(None))
    )
    unknown_calibration = (
        sa.select(sa.func.count())
        .select_from(scores.outerjoin(calibrations, calibrations.c.id == scores.c.calibration_id))
        .where(scores.c.calibration_id.is_not(None), calibrations.c.id.is_(None))
    )
    found = {
        "scored records have no score": scored_without_score,
        "records contradict their state (finished_at)": open_with_end,
        "scores name a calibration that is not stored": unknown_calibration,
    }
    counts = {words: connection.execute(query).scalar_one() for words, query in found.items()}
    return [f"{count} {words}" for words, count in counts.items() if count]
