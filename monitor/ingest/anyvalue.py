"""OTLP's `AnyValue` and attribute lists as plain Python values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue


def plain(value: AnyValue) -> Any:
    """The value without its wrapping; `None` for an empty one, and for bytes (never text)."""
    kind = value.WhichOneof("value")
    if kind is None or kind == "bytes_value":
        return None
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {item.key: plain(item.value) for item in value.kvlist_value.values}
    return getattr(value, kind)


def attributes_of(pairs: Iterable[KeyValue], *prefixes: str) -> dict[str, Any]:
    """Attributes by name; with prefixes, only those that begin with one of them."""
    return {
        pair.key: plain(pair.value)
        for pair in pairs
        if not prefixes or pair.key.startswith(prefixes)
    }
