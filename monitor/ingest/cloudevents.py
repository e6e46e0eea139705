"""CloudEvents over HTTP whose data is a record: structured, batched and binary mode."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from monitor.errors import MalformedInput
from monitor.ingest import json_parts
from monitor.ingest.json_parts import Source
from monitor.ingest.submission import MOST_ITEMS

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
_REQUIRED = ("specversion", "id", "source", "type")


def from_body(source: Source) -> dict[str, Any]:
    """The posted record in a structured event. Raises `MalformedInput`."""
    return _record(json_parts.value(json_parts.whole(source)))


def from_batch(source: Source) -> list[dict[str, Any]]:
    """The posted records in a batch of events. Raises `MalformedInput`."""
    events = [json_parts.value(part) for part in json_parts.elements(json_parts.whole(source))]
    if len(events) > MOST_ITEMS:
        raise MalformedInput(
            "body", f"more than {MOST_ITEMS} events", "send them in several requests"
        )
    return [_record(event) for event in events]


def from_headers(headers: Mapping[str, str], source: Source) -> dict[str, Any]:
    """The posted record in a binary event: attributes in `ce-` headers, data in the body."""
    event: dict[str, Any] = {name: headers.get(f"ce-{name}") for name in _REQUIRED}
    event["data"] = json_parts.value(json_parts.whole(source))
    return _record(event)


def _record(event: object) -> dict[str, Any]:
    """The event's data, with its identity and source where the data names none."""
    if not isinstance(event, Mapping):
        raise MalformedInput("body", "an event is no object", "send a CloudEvent")
    for name in _REQUIRED:
        if not isinstance(event.get(name), str) or not event[name]:
            raise MalformedInput(name, "it is missing", "set this attribute of CloudEvents 1.0")
    if not event["specversion"].startswith("1."):
        raise MalformedInput("specversion", "it is not known", "send CloudEvents 1.0")
    data = event.get("data")
    if data is None and isinstance(encoded := event.get("data_base64"), str):
        data = _decoded(encoded)
    if not isinstance(data, Mapping):
        raise MalformedInput("data", "it is no object", "send a record as the event's data")
    # Source and id together identify an event.
    return {"id": f"{event['source']}#{event['id']}", "service": event["source"], **data}


def _decoded(encoded: str) -> object:
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise MalformedInput(
            "data_base64", "it is no base64", "send the record as base64"
        ) from None
    return json_parts.value(json_parts.whole(raw))
