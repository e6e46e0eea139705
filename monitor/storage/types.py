"""Column types that mean the same in SQLite and in PostgreSQL.

What neither database would refuse by itself is refused here, before it is sent: a naive
time, a NaN (SQLite stores it as NULL without a word), an array of the wrong rank. Two
things are mended instead of refused, because a live document may hold them and must not
be lost for it: NUL, which PostgreSQL cannot store in text, and lone surrogates, which
UTF-8 cannot encode. Both become U+FFFD, one code point for one, so offsets stay true.
"""

from __future__ import annotations

import json
import math
import re
import struct
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

import numpy as np
from sqlalchemy import DateTime, Dialect, Double, LargeBinary, Text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from monitor.errors import MonitorError
from monitor.records import FloatArray

POSTGRESQL = "postgresql"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SHAPE = struct.Struct("<II")


class UnstorableValue(DontWrapMixin, MonitorError):
    """A value cannot be stored."""

    def __init__(self, field: str, value: str, remedy: str) -> None:
        super().__init__(f"{field}: {value} cannot be stored; {remedy}")


def clean_text(text: str) -> str:
    r"""The text with every code point that a database cannot hold replaced by U+FFFD.

    >>> clean_text("a\x00b") == "a\ufffdb"
    True
    """
    return _UNSTORABLE.sub("\ufffd", text)


def clean_json(value: Any) -> Any:
    """The same for every string inside a JSON value."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value


class CleanText(TypeDecorator[str]):
    """Text of any length."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean_text(value)


class Identifier(CleanText):
    """Text that is compared and ordered by code point in both databases.

    Without the C collation PostgreSQL would order ids by the locale of its cluster, and
    the order (received_at, id) would differ between two installations.
    """

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        return postgresql.TEXT(collation="C") if dialect.name == POSTGRESQL else Text()


WordT = TypeVar("WordT", bound=StrEnum)


class Word(TypeDecorator[WordT], Generic[WordT]):
    """One word of a closed list, stored as text so that SQL reads as it is written."""

    impl = Text
    cache_ok = True

    def __init__(self, words: type[WordT]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: WordT | None, dialect: Dialect) -> str | None:
        return None if value is None else self.words(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> WordT | None:
        return None if value is None else self.words(value)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, stored as UTC and read back as aware UTC."""

    impl = DateTime
    cache_ok = True

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime]:
        return DateTime(timezone=dialect.name == POSTGRESQL)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise UnstorableValue(self.field, f"the naive time {value}", "add a timezone")
        utc = value.astimezone(UTC)
        # SQLite's text form has no offset: without one all values sort as text.
        return utc if dialect.name == POSTGRESQL else utc.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Real(TypeDecorator[float]):
    """A finite double."""

    impl = Double
    cache_ok = True

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        if value is None:
            return None
        number = float(value)  # also takes numpy's scalars, which the drivers do not
        if not math.isfinite(number):
            raise UnstorableValue(self.field, str(number), "leave it NULL with a reason")
        return number


class Json(TypeDecorator[Any]):
    """An array or object: text in SQLite, `json` in PostgreSQL; NaN and infinity are refused.

    Not `jsonb`: it forgets the order of keys, which tells here in which order stages ran.
    """

    impl = Text
    cache_ok = True

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == POSTGRESQL:
            return _RawJson()
        return Text()

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        if value is None:
            return None
        try:
            return json.dumps(
                clean_json(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
            )
        except ValueError:
            raise UnstorableValue(
                self.field, "a NaN or an infinity", "leave it null with a reason"
            ) from None

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        # SQLite gives text; psycopg has parsed it already.
        return json.loads(value) if isinstance(value, str) else value


class _RawJson(UserDefinedType[Any]):
    """`json` that takes text: `Json` has written it already.

    No subclass of SQLAlchemy's own `JSON`: of that the driver's dialect makes its own type, which
    encodes a second time, so that arrays would stand in the database as strings and NULL as
    `null`.
    """

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "JSON"


class Matrix(TypeDecorator[FloatArray]):
    """A (rows, columns) array in single precision, little-endian, behind its shape.

    Single precision is for explanations only (a transport plan, its costs): an error of
    6e-8 shows nowhere, and the bytes halve. Distances have their own double columns.
    """

    impl = LargeBinary
    cache_ok = True

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def process_bind_param(self, value: FloatArray | None, dialect: Dialect) -> bytes | None:
        if value is None:
            return None
        if value.ndim != 2:
            raise UnstorableValue(self.field, f"an array of shape {value.shape}", "make it 2-D")
        if not np.isfinite(value).all():
            raise UnstorableValue(self.field, "a NaN or an infinity", "leave it NULL")
        return _SHAPE.pack(*value.shape) + value.astype("<f4").tobytes()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> FloatArray | None:
        if value is None:
            return None
        shape = _SHAPE.unpack_from(value)
        flat = np.frombuffer(value, dtype="<f4", offset=_SHAPE.size)
        return flat.reshape(shape).astype(np.float64)
