"""What a column of JSON holds, as people and panels see it who write SQL of their own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from monitor.storage.engine import Database
from monitor.storage.finding_tables import drift_references
from monitor.storage.upsert import upsert


def stored(database: Database, fitted: Any) -> Any:
    """(number in an array, is it NULL) of a column as the database itself reads it."""
    row = {
        "service": "s",
        "model": "m",
        "category": "",
        "signal": "hss",
        "calibration_id": "c",
        "fitted": fitted,
        "detail": "",
        "records": 1,
    }
    with database.write() as connection:
        connection.execute(sa.delete(drift_references))
        upsert(connection, drift_references, [row])
    with database.read() as connection:
        found = connection.execute(
            sa.text("SELECT fitted -> 'level' ->> 1, fitted IS NULL FROM drift_references")
        ).one()
        again = connection.execute(sa.select(drift_references.c.fitted)).scalar_one()
    assert again == fitted
    return None if found[0] is None else float(found[0]), bool(found[1])


def test_json_can_be_asked_in_sql(database: Database) -> None:
    """Encoded twice it would be one long string, to be read by this program alone."""
    assert stored(database, {"level": [0.25, 1e-17], "text": "é\n"}) == (1e-17, False)


def test_missing_json_is_null(database: Database) -> None:
    """`null` inside of JSON would count as a value in every query."""
    assert stored(database, None) == (None, True)
