"""What KServe's inference logger sends: one CloudEvent for a request, one for its response.

Both carry the id of the request, in binary mode; the response comes only where its status was
200. The events are joined like a span and its log events: the request stands for the span, as it
alone tells whether it is a replay of our own. That is told by the request's id, which KServe
takes from the header that our replays set, or by the trace state among the logged headers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from monitor.errors import MalformedInput
from monitor.ingest import iso8601, json_parts, openai
from monitor.ingest.call import Choice, GenAiCall
from monitor.ingest.json_parts import Source
from monitor.ingest.sighting import Sighting
from monitor.ingest.switches import KSERVE
from monitor.ingest.text import name_of
from monitor.ingest.tracestate import is_replay
from monitor.records import Message
from monitor.replays import REQUEST_ID

_REQUEST = "org.kubeflow.serving.inference.request"
_RESPONSE = "org.kubeflow.serving.inference.response"
_STREAM = b"data:"


def is_logged(headers: Mapping[str, str]) -> bool:
    """Whether a request is an event of the inference logger."""
    return headers.get("ce-type") in (_REQUEST, _RESPONSE)


def sighting(headers: Mapping[str, str], body: Source) -> Sighting:
    """A half of a call. Raises `MalformedInput`.

    Taken are OpenAI's bodies (also streamed ones) and `instances` / `predictions` of one text.
    """
    own_id, service = headers.get("ce-id"), headers.get("ce-inferenceservicename")
    if not own_id or not service:
        name = "ce-inferenceservicename" if own_id else "ce-id"
        raise MalformedInput(name, "it is missing", "let KServe's logger send the event")
    is_request = headers["ce-type"] == _REQUEST
    place = [headers.get(f"ce-{part}", "") for part in ("namespace", "component", "endpoint")]
    key = hashlib.sha256(json.dumps([service, *place, own_id]).encode()).hexdigest()
    return Sighting(
        trace_id=key[:32],
        span_id=key[32:48],
        traced=False,
        span=is_request,
        service=name_of(service),
        release=None,
        scope=KSERVE,
        call=_request(body, service) if is_request else _response(body),
        started_at=iso8601.utc(headers.get("ce-time")) if is_request else None,
        replay=own_id.startswith(REQUEST_ID) or _is_replay(headers.get("ce-metadata")),
    )


def _request(body: Source, service: str) -> GenAiCall:
    asked = _object(body)
    if "instances" in asked:
        text = _only_text(asked["instances"])
        messages = None if text is None else (Message(role="user", content=text),)
        return GenAiCall(requested_model=service, messages=messages)
    return openai.of_request(asked)


def _response(body: Source) -> GenAiCall:
    start = json_parts.first(body)
    if bytes(body[start : start + len(_STREAM)]) == _STREAM:
        return openai.of_stream(bytes(body).decode("utf-8", "replace").splitlines())
    answered = _object(body)
    if "predictions" in answered:
        text = _only_text(answered["predictions"])
        return GenAiCall(choices=None if text is None else (Choice(text=text),))
    return openai.of_response(answered)


def _object(body: Source) -> Mapping[str, Any]:
    found = json_parts.value(json_parts.whole(body))
    if not isinstance(found, Mapping):
        raise MalformedInput("body", "it is no object", "log calls with JSON objects as bodies")
    return found


def _only_text(texts: object) -> str | None:
    """Of a batch of several texts it is not known which belongs to which."""
    if isinstance(texts, list) and len(texts) == 1 and isinstance(texts[0], str):
        return texts[0]
    return None


def _is_replay(metadata: str | None) -> bool:
    """The logged headers are a JSON object of lists, where `metadataHeaders` names any."""
    try:
        logged = json.loads(metadata or "{}")
    except (ValueError, RecursionError):
        return False
    if not isinstance(logged, dict):
        return False
    return any(
        name.lower() == "tracestate" and is_replay(",".join(map(str, values)))
        for name, values in logged.items()
        if isinstance(values, list)
    )
