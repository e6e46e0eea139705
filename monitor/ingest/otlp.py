"""Decoding OTLP/HTTP export requests, protobuf and JSON, into sightings of GenAI calls.

Spans and log records that are none of a language model's calls are passed over. An item
with an invalid id is rejected by itself (`partial_success`); a body that is no OTLP at all
raises `MalformedInput`. JSON bodies are walked part by part, so what is held at a time is
one span, whatever the size of the request.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from monitor.errors import MalformedInput
from monitor.ingest import genai, json_parts
from monitor.ingest.anyvalue import attributes_of, plain
from monitor.ingest.sighting import Decoded, Sighting
from monitor.ingest.text import name_of
from monitor.ingest.tracestate import is_replay, upstream_probability
from monitor.replays import is_replay_trace

M = TypeVar("M", bound=Message)

_CONTENT = ("gen_ai.", "llm.", "input.", "output.", "openinference.", "traceloop.", "error.type")
_ID_BYTES = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN_SERVICE = "unknown_service"
"""What OpenTelemetry calls a service that has no `service.name`."""


@dataclass(frozen=True, slots=True)
class _Origin:
    service: str
    release: str | None
    scope: str


def decode_traces(body: bytes | bytearray, *, json: bool) -> Decoded:
    """The GenAI spans of an `ExportTraceServiceRequest`. Raises `MalformedInput`."""
    if json:
        return _decoded(_json_items(body, "resourceSpans", "scopeSpans", "spans", Span), _span)
    return _decoded(_span_messages(_parsed(ExportTraceServiceRequest(), body)), _span)


def decode_logs(body: bytes | bytearray, *, json: bool) -> Decoded:
    """The GenAI events of an `ExportLogsServiceRequest`. Raises `MalformedInput`."""
    if json:
        items = _json_items(body, "resourceLogs", "scopeLogs", "logRecords", LogRecord)
        return _decoded(items, _log)
    return _decoded(_log_messages(_parsed(ExportLogsServiceRequest(), body)), _log)


class _InvalidId(Exception):
    """An id of an item has the wrong length or holds something that is no hex digit."""


def _decoded(
    items: Iterator[tuple[_Origin, Message | None]],
    sighted: Callable[[_Origin, Any], Sighting | None],
) -> Decoded:
    sightings, rejected = [], 0
    for origin, item in items:
        if item is None:
            rejected += 1
            continue
        try:
            if (sighting := sighted(origin, item)) is not None:
                sightings.append(sighting)
        except _InvalidId:
            rejected += 1
    problem = "an id is invalid: send trace ids of 16 bytes and span ids of 8, not all zero"
    return Decoded(
        sightings=tuple(sightings), rejected=rejected, problem=problem if rejected else ""
    )


def _span(origin: _Origin, span: Span) -> Sighting | None:
    trace_id, span_id = _hex(span.trace_id, 16), _hex(span.span_id, 8)
    attributes = attributes_of(span.attributes, *_CONTENT)
    if not attributes:
        return None
    events = (
        genai.Event(name=event.name, attributes=attributes_of(event.attributes, "gen_ai."))
        for event in span.events
        if event.name.startswith("gen_ai.")
    )
    failed = span.status.code == Status.STATUS_CODE_ERROR
    call = genai.of_span(attributes, events=events, failed=failed)
    if call is None:
        return None
    return Sighting(
        trace_id=trace_id,
        span_id=span_id,
        span=True,
        service=origin.service,
        release=origin.release,
        scope=origin.scope,
        call=call,
        started_at=_time(span.start_time_unix_nano),
        replay=is_replay(span.trace_state) or is_replay_trace(trace_id),
        upstream_probability=upstream_probability(span.trace_state),
    )


def _log(origin: _Origin, log: LogRecord) -> Sighting | None:
    trace_id = _hex(log.trace_id, 16) if log.trace_id else ""
    span_id = _hex(log.span_id, 8) if log.span_id else ""
    attributes = attributes_of(log.attributes, *_CONTENT, "event.name")
    name = log.event_name or attributes.get("event.name") or ""
    if not isinstance(name, str) or not (name or attributes):
        return None
    body = plain(log.body) if name.startswith("gen_ai.") else None
    event = genai.Event(name=name, attributes=attributes, body=body)
    call = genai.of_event(event)
    if call is None:
        return None
    return Sighting(
        trace_id=trace_id,
        span_id=span_id,
        span=False,
        service=origin.service,
        release=origin.release,
        scope=origin.scope,
        call=call,
        by_message=genai.is_per_message(event),
        replay=is_replay_trace(trace_id),
    )


def _parsed(message: M, body: bytes | bytearray) -> M:
    try:
        message.ParseFromString(body)
    except DecodeError:
        kind = type(message).__name__
        raise MalformedInput(
            "body", f"no protobuf message {kind}", "send OTLP as the exporter of an SDK writes it"
        ) from None
    return message


def _span_messages(request: ExportTraceServiceRequest) -> Iterator[tuple[_Origin, Span]]:
    for resource_spans in request.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            origin = _origin(resource_spans.resource, scope_spans.scope)
            for span in scope_spans.spans:
                yield origin, span


def _log_messages(request: ExportLogsServiceRequest) -> Iterator[tuple[_Origin, LogRecord]]:
    for resource_logs in request.resource_logs:
        for scope_logs in resource_logs.scope_logs:
            origin = _origin(resource_logs.resource, scope_logs.scope)
            for log in scope_logs.log_records:
                yield origin, log


def _json_items(
    body: bytes | bytearray, resources: str, scopes: str, items: str, kind: type[Message]
) -> Iterator[tuple[_Origin, Message | None]]:
    request = json_parts.fields(json_parts.whole(body))
    for resource_part in _list(request, resources):
        by_resource = json_parts.fields(resource_part)
        resource = _from_json(Resource(), by_resource.get("resource"))
        for scope_part in _list(by_resource, scopes):
            by_scope = json_parts.fields(scope_part)
            scope = _from_json(InstrumentationScope(), by_scope.get("scope"))
            origin = _origin(resource, scope)
            for part in _list(by_scope, items):
                item = json_parts.value(part)
                yield origin, _from_json(kind(), item) if _ids_as_base64(item) else None


def _list(members: Mapping[str, Any], name: str) -> Iterator[Any]:
    """The elements of a list that may be left out, or null."""
    part = members.get(name)
    return iter(()) if part is None else json_parts.elements(part)


def _from_json(message: M, part: Any) -> M:
    content = json_parts.value(part)
    if content is None:
        return message
    try:
        json_format.ParseDict(content, message, ignore_unknown_fields=True)
    except (json_format.ParseError, ValueError, TypeError, AttributeError, RecursionError):
        # The original message quotes the value, which may be a prompt.
        kind = type(message).__name__
        raise MalformedInput(
            "body", f"a {kind} has a field of the wrong type", "send OTLP/JSON as specified"
        ) from None
    return message


def _ids_as_base64(item: Any) -> bool:
    """Rewrites hex ids as the base64 that protobuf's JSON reads; False for an invalid one.

    Left alone, 32 hex digits are valid base64 too, for a wrong id of 24 bytes.
    """
    if not isinstance(item, dict):
        raise MalformedInput("body", "a span or log record is no object", "send OTLP/JSON")
    for name, length in _ID_BYTES.items():
        if not (digits := item.get(name)):
            item.pop(name, None)
            continue
        try:
            raw = bytes.fromhex(digits)
        except (TypeError, ValueError):
            return False
        if len(raw) != length or len(digits) != 2 * length:
            return False
        item[name] = base64.b64encode(raw).decode()
    # Their ids are hex as well, and nothing in here reads them.
    item.pop("links", None)
    return True


def _origin(resource: Resource, scope: InstrumentationScope) -> _Origin:
    attributes: Mapping[str, Any] = attributes_of(resource.attributes, "service.")
    service, release = attributes.get("service.name"), attributes.get("service.version")
    return _Origin(
        service=name_of(str(service)) if service else UNKNOWN_SERVICE,
        release=name_of(str(release)) if release else None,
        scope=name_of(scope.name),
    )


def _hex(raw: bytes, length: int) -> str:
    if len(raw) != length or not any(raw):
        raise _InvalidId
    return raw.hex()


def _time(nanoseconds: int) -> datetime | None:
    if not nanoseconds:
        return None
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None
