"""Records that a service posts itself: validation, item by item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from monitor.errors import MalformedInput
from monitor.ingest import iso8601, json_parts, openai
from monitor.ingest.json_parts import Part, Source
from monitor.ingest.text import MOST_NAME_BYTES, storable, storable_values
from monitor.ingest.tracestate import is_replay
from monitor.records import CapturedRequest, IncomingRecord, Message
from monitor.replays import is_replay_trace

MOST_ITEMS = 20_000
"""In one request: bounds the list of rejections, and the transaction."""
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-fA-F]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-fA-F]{16}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """Why one item was not taken."""

    index: int
    """Position in the request, from 0."""
    field: str
    remedy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    records: tuple[IncomingRecord, ...]
    rejected: tuple[Rejection, ...]
    replays: int = 0
    """Replays of our own: nothing is wrong with them, and nothing becomes of them."""


def read_submission(source: Source, *, lines: bool, received_at: datetime) -> Submission:
    """The records of a body: one object, an array, or (always with `lines`) one a line.

    An item that is wrong is rejected by itself; in an array that is no JSON nothing can be
    told apart, so the whole body raises `MalformedInput`.
    """
    items = _items(source, lines=lines)
    return submission_of(items, received_at=received_at, read=json_parts.value)


def submission_of(
    items: Iterable[Any], *, received_at: datetime, read: Callable[[Any], Any] = lambda item: item
) -> Submission:
    """The records of posted objects; one that cannot be read is rejected by itself."""
    records, rejected, replays = [], [], 0
    for index, item in enumerate(items):
        if index >= MOST_ITEMS:
            raise MalformedInput(
                "body", f"more than {MOST_ITEMS} records", "send them in several requests"
            )
        try:
            record = record_from(read(item), received_at=received_at)
        except MalformedInput as fault:
            rejected.append(Rejection(index=index, field=fault.field, remedy=fault.remedy))
            continue
        if record is None:
            replays += 1
        else:
            records.append(record)
    return Submission(records=tuple(records), rejected=tuple(rejected), replays=replays)


def record_from(item: Any, *, received_at: datetime) -> IncomingRecord | None:
    """One posted object as a record; `None` for a replay of our own, told by its `tracestate` or
    its trace id. Raises `MalformedInput`, never quoting a text.

    `document` and `summary` may be empty strings: the scorer says why it skips them.
    """
    if not isinstance(item, Mapping):
        raise MalformedInput("body", "an item is no object", "send a JSON object for each record")
    trace_id = _matching(item, "trace_id", _TRACE_ID, "32 hex digits, not all zero")
    span_id = _matching(item, "span_id", _SPAN_ID, "16 hex digits, not all zero")
    state = item.get("tracestate")
    if is_replay_trace(trace_id or "") or (isinstance(state, str) and is_replay(state)):
        return None
    document = _text(item, "document")
    own_id = _name(item, "id")
    joint_id = f"{trace_id}-{span_id}" if trace_id and span_id else None
    return IncomingRecord(
        id=own_id or joint_id or str(uuid4()),
        document=document,
        summary=_text(item, "summary"),
        service=_required_name(item, "service"),
        model=_required_name(item, "model"),
        received_at=received_at,
        category=_name(item, "category"),
        release=_name(item, "release"),
        trace_id=trace_id,
        span_id=span_id,
        started_at=_time(item.get("started_at")),
        request=_request(item.get("request"), document),
        alternatives=_alternatives(item.get("alternatives")),
    )


def _items(source: Source, *, lines: bool) -> Iterator[Any]:
    start = json_parts.first(source)
    if start == len(source):
        if not lines:
            raise MalformedInput("body", "empty", "send a record, an array of them, or NDJSON")
        return
    if lines:
        yield from _lines(source, start)
    elif source[start : start + 1] == b"[":
        yield from json_parts.elements(json_parts.whole(source))
    else:
        stop = json_parts.end_of_value(source, start)
        rest = json_parts.after_blank(source, stop)
        # NDJSON often comes as plain `application/json`.
        if rest < len(source) and b"\n" in source[stop:rest]:
            yield from _lines(source, start)
        else:
            yield json_parts.whole(source)


def _lines(source: Source, start: int) -> Iterator[Any]:
    while start < len(source):
        end = source.find(b"\n", start)
        stop = len(source) if end < 0 else end
        if json_parts.after_blank(source, start) < stop:
            yield Part(source, start, stop)
        start = stop + 1


def _text(item: Mapping[str, Any], field: str) -> str:
    text = item.get(field)
    if not isinstance(text, str):
        raise MalformedInput(field, _what(text), f"send `{field}` as a string")
    return storable(text)


def _name(item: Mapping[str, Any], field: str) -> str | None:
    name = item.get(field)
    if name is None or name == "":
        return None
    if not isinstance(name, str):
        raise MalformedInput(field, _what(name), f"send `{field}` as a string, or leave it out")
    stored = storable(name)
    if (size := len(stored.encode())) > MOST_NAME_BYTES:
        raise MalformedInput(
            field, f"it has {size} bytes in UTF-8", f"use at most {MOST_NAME_BYTES}"
        )
    return stored


def _required_name(item: Mapping[str, Any], field: str) -> str:
    if (name := _name(item, field)) is None:
        raise MalformedInput(field, "it is missing", f"send `{field}` as a non-empty string")
    return name


def _matching(
    item: Mapping[str, Any], field: str, pattern: re.Pattern[str], expected: str
) -> str | None:
    name = item.get(field)
    if name is None or name == "":
        return None
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise MalformedInput(field, "it is no valid id", f"send {expected}, or leave it out")
    return name.lower()


def _time(told: object) -> datetime | None:
    time = iso8601.utc(told)
    if time is None and told is not None:
        remedy = "send ISO 8601 with an offset, as in 2026-11-30T08:00:00Z, or leave it out"
        raise MalformedInput("started_at", "it is no time with an offset", remedy)
    return time


def _request(told: object, document: str) -> CapturedRequest | None:
    """The template of a replay; an OpenAI request body, or its parts in `parameters`.

    A request that does not hold the document word for word is dropped: replaying it with
    "the document replaced" would ask the unchanged question and report perfect stability.
    """
    if told is None:
        return None
    if not isinstance(told, Mapping):
        raise MalformedInput("request", _what(told), "send the request's JSON object")
    call = openai.of_request(told)
    if not call.messages or call.requested_model is None:
        raise MalformedInput(
            "request", "it lacks `messages` or `model`", "send the body of the chat request"
        )
    own = dict(call.parameters)
    nested = own.pop("parameters", None)
    parameters = own | openai.parameters_of(nested if isinstance(nested, Mapping) else {})
    messages = tuple(
        Message(role=storable(message.role), content=storable(message.content))
        for message in call.messages
    )
    if not document or all(document not in message.content for message in messages):
        return None
    return CapturedRequest(
        messages=messages,
        model=storable(call.requested_model),
        parameters=storable_values(parameters),
    )


def _alternatives(told: object) -> tuple[str, ...]:
    if told is None:
        return ()
    if not isinstance(told, list) or not all(isinstance(text, str) for text in told):
        raise MalformedInput("alternatives", _what(told), "send a list of strings")
    return tuple(storable(text) for text in told)


def _what(value: object) -> str:
    return "it is missing" if value is None else f"it is of the type {type(value).__name__}"
