"""Rows behind a place in a list that is ordered by (time, id).

Both sides of the comparison are rows of two values, which an index over both columns answers by
one jump; `time < … OR time = … AND id < …` it does not. The values are bound with the types of
their columns, since a time is stored in another form than Python writes it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

Place = tuple[datetime, str]
"""The time and the id of a row."""


def later(time: sa.Column[Any], key: sa.Column[Any], place: Place) -> sa.ColumnElement[bool]:
    """Rows behind a place where the list rises."""
    return sa.tuple_(time, key) > _bound(time, key, place)


def earlier(time: sa.Column[Any], key: sa.Column[Any], place: Place) -> sa.ColumnElement[bool]:
    """Rows behind a place where the list falls, newest first."""
    return sa.tuple_(time, key) < _bound(time, key, place)


def _bound(time: sa.Column[Any], key: sa.Column[Any], place: Place) -> sa.Tuple:
    return sa.tuple_(sa.literal(place[0], time.type), sa.literal(place[1], key.type))
