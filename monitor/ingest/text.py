"""Making texts fit for every store."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
MOST_NAME_BYTES = 512
"""Of a name in UTF-8. Service, model, category and id stand in one index together, of which an
entry may have 2,704 bytes in PostgreSQL; what it refuses, an exporter sends again for ever."""
_MOST_LEVELS = 50


def storable(text: str) -> str:
    """The text with U+FFFD for NUL (PostgreSQL refuses it) and for lone surrogates (no UTF-8).

    One character stands for one, so offsets stay.
    """
    if "\x00" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def name_of(text: str) -> str:
    """A name that nobody is there to correct, cut to `MOST_NAME_BYTES`."""
    kept = storable(text[:MOST_NAME_BYTES]).encode()
    return kept[:MOST_NAME_BYTES].decode(errors="ignore")


def storable_values(value: Any, *, levels: int = _MOST_LEVELS) -> Any:
    """The same for all strings in a JSON-like value, without what cannot be written as JSON again.

    NaN and infinities: Python reads them from JSON and OTLP has them, but neither a database nor a
    replayed request takes such a parameter. And what is nested deeper than `levels`: Python reads
    hundreds of them, and whoever walks through them afterwards runs out of stack.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {
            storable(str(name)): storable_values(item, levels=levels - 1)
            for name, item in value.items()
            if _writable(item, levels)
        }
    if isinstance(value, list | tuple):
        return [
            storable_values(item, levels=levels - 1) for item in value if _writable(item, levels)
        ]
    return value


def _writable(item: Any, levels: int) -> bool:
    if isinstance(item, float):
        return math.isfinite(item)
    return levels > 1 or not isinstance(item, Mapping | list | tuple)
