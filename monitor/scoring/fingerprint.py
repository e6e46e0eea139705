"""What a distance depends on, as one short text: scores compare only under the same one."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from monitor.errors import MalformedInput


def fingerprint(settings: Mapping[str, Any]) -> str:
    """SHA-256, as 64 hex digits, of the canonical JSON of everything that moves a distance.

    Canonical: keys sorted, no blanks, ASCII only, tuples as lists, enumerations by their
    value, and a float that is a whole number as an integer, so that `tau: 1` and
    `tau: 1.0` in a file mean the same. The caller names what counts (encoder, vectors, k,
    τ, γ, K, strengths, re-summarizer, …); one more key is another fingerprint.

    Raises `MalformedInput` with the path of a value that JSON cannot hold.

    >>> fingerprint({"tau": 1.0, "k": 10}) == fingerprint({"k": 10, "tau": 1})
    True
    """
    return hashlib.sha256(canonical(settings).encode("ascii")).hexdigest()


def canonical(settings: Mapping[str, Any]) -> str:
    """The JSON text behind a fingerprint.

    >>> canonical({"tau": 0.6, "strengths": ("low", "high")})
    '{"strengths":["low","high"],"tau":0.6}'
    """
    plain = _plain(settings, "settings")
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any, path: str) -> Any:
    if isinstance(value, Enum):
        return _plain(value.value, path)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise MalformedInput(path, f"key {key!r} is not text", "name it by a text")
        return {str(key): _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    raise MalformedInput(
        path,
        f"{type(value).__name__} {value!r} has no canonical form",
        "use text, finite numbers, true, false, null, lists and mappings",
    )
