"""The request that a record's replays repeat, as it was captured."""

from __future__ import annotations

import sqlalchemy as sa

from monitor.records import CapturedRequest
from monitor.storage.content import request_from_json
from monitor.storage.engine import Database
from monitor.storage.tables import records


def captured_request(database: Database, record_id: str) -> CapturedRequest | None:
    """The request of a record; None where none was captured, or it is not kept any more."""
    statement = sa.select(records.c.request).where(records.c.id == record_id)
    with database.read() as connection:
        value = connection.execute(statement).scalar_one_or_none()
    return None if value is None else request_from_json(value)
