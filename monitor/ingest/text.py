"""Making texts fit for every store."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


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


def storable_values(value: Any) -> Any:
    """The same for all strings in a JSON-like value; NaN and infinities are left out.

    Python reads them from JSON and OTLP has them, but no JSON can be written with them: neither
    a database nor a replayed request takes such a parameter.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {
            storable(str(name)): storable_values(item)
            for name, item in value.items()
            if not _endless(item)
        }
    if isinstance(value, list | tuple):
        return [storable_values(item) for item in value if not _endless(item)]
    return value


def _endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
