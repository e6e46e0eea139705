"""Who was shown the texts of which record, when and how.

A row is written before the texts are shown: what cannot be noted is not shown. Rows are kept
as long as records may be (`prune`), also when the record itself is gone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import sqlalchemy as sa

from monitor.ports import Clock
from monitor.storage.engine import Database
from monitor.storage.filters import between, equal
from monitor.storage.outlet_tables import text_views

Channel = Literal["page", "api", "cli", "export"]
"""Where texts were shown."""
_CHUNK: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class TextView:
    """Somebody was shown the texts of one record."""

    viewed_at: datetime
    role: str
    """Of the token that was shown; `anybody` where none was needed, `operator` for commands."""
    viewer: str
    """The hash of a session, `token`, `anybody`, or the user of the command line."""
    record_id: str
    channel: str


class SqlTextAudit:
    """The audit of viewed texts on either database."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def viewed(self, *record_ids: str, role: str, viewer: str, channel: Channel) -> None:
        """Note that the texts of records are about to be shown; durable on return.

        Raises `DatabaseUnavailable`, and then nothing may be shown.
        """
        now = self._clock()
        rows = [
            {
                "id": secrets.token_hex(12),
                "viewed_at": now,
                "role": role,
                "viewer": viewer,
                "record_id": record_id,
                "channel": channel,
            }
            for record_id in record_ids
        ]
        if rows:
            with self._database.write() as connection:
                connection.execute(sa.insert(text_views), rows)

    def views(
        self,
        *,
        record_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 200,
    ) -> list[TextView]:
        """Noted views in [since, until), newest first."""
        terms = [
            *equal(text_views, record_id=record_id),
            *between(text_views.c.viewed_at, since, until),
        ]
        statement = (
            sa.select(
                text_views.c.viewed_at,
                text_views.c.role,
                text_views.c.viewer,
                text_views.c.record_id,
                text_views.c.channel,
            )
            .where(*terms)
            .order_by(text_views.c.viewed_at.desc(), text_views.c.id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [TextView(**row) for row in connection.execute(statement).mappings()]

    def prune(self, *, before: datetime) -> int:
        """Delete views from before a time; returns how many."""
        oldest = (
            sa.select(text_views.c.id)
            .where(text_views.c.viewed_at < before)
            .order_by(text_views.c.viewed_at, text_views.c.id)
            .limit(_CHUNK)
        )
        deleted = 0
        while True:
            with self._database.write() as connection:
                ids = list(connection.execute(oldest).scalars())
                if not ids:
                    return deleted
                connection.execute(sa.delete(text_views).where(text_views.c.id.in_(ids)))
            deleted += len(ids)
