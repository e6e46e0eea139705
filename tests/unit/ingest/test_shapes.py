"""A sender's JSON with one part of another shape is read, or refused by itself.

Any other error would cost whatever came in the same request, and hold a followed log up for ever.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.errors import MalformedInput
from monitor.ingest import genai, kserve
from monitor.ingest.call import GenAiCall
from monitor.ingest.capture import record_of
from monitor.ingest.extraction import Extraction
from monitor.ingest.redaction import Redaction
from monitor.ingest.sighting import Sighting
from monitor.ingest.submission import record_from
from monitor.records import IncomingRecord

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
DEEP = json.loads("[" * 800 + "]" * 800)
"""Python's own reader takes it, and whoever walks through it recursively runs out of stack."""
ODD = (None, True, 7, 0.5, "x", [], ["x"], [None], [["x"]], {}, {"a": 1}, DEEP)

PART = {"type": "text", "text": "A man was found.", "content": "A man was found."}
TOOL = {"type": "tool_call_response", "response": {"weather": "fair"}}
TURN = {"role": "user", "type": "message", "content": [PART, TOOL]}
REQUEST = {
    "model": "m",
    "messages": [TURN],
    "instructions": "Be brief.",
    "temperature": 0.5,
    "parameters": {"stop": ["x"], "logit_bias": {"5": 1}},
}
RECORD = {
    "document": "A man was found.",
    "summary": "Found.",
    "service": "news",
    "model": "m",
    "id": "7",
    "category": "law",
    "trace_id": "ab" * 16,
    "span_id": "cd" * 8,
    "tracestate": "a=b",
    "started_at": "2026-11-30T08:00:00Z",
    "alternatives": ["A man."],
    "request": REQUEST,
}
CHOICE = {
    "index": 0,
    "message": {"role": "assistant", "content": [PART], "tool_calls": [{"id": "1"}]},
    "finish_reason": "stop",
}
ANSWER = {"model": "m", "choices": [CHOICE], "error": {"code": "c", "type": "t"}}
RESPONSE = {"model": "m", "output": [{"type": "message", "content": [PART]}]}
CHUNK = {
    "model": "m",
    "type": "response.completed",
    "response": RESPONSE,
    "error": {"code": "c"},
    "choices": [{"index": 0, "delta": {"content": "A man."}, "text": "x", "finish_reason": "stop"}],
}
SPAN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.input.messages": [{"role": "user", "parts": [PART, TOOL]}],
    "gen_ai.output.messages": [{"role": "assistant", "parts": [PART], "finish_reason": "stop"}],
    "gen_ai.system_instructions": [PART],
    "error.type": "timeout",
}
NUMBERED = {
    "llm.request.type": "chat",
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": [PART],
    "gen_ai.completion.0.content": "A man.",
    "gen_ai.completion.0.finish_reason": "stop",
}
INFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    "llm.invocation_parameters": {"model": "m", "temperature": 0.5},
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.text": "A man was found.",
    "input.value": REQUEST,
    "output.value": ANSWER,
}


def spoiled(value: Any) -> Iterator[Any]:
    """The value with one part of it, at any depth, replaced by something odd."""
    yield from ODD
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: odd} for odd in spoiled(inner))
    if isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], odd, *value[place + 1 :]] for odd in spoiled(inner))


def unread(shapes: Iterator[Any], read: Callable[[Any], object]) -> list[tuple[str, str]]:
    """Shapes that ended in an error of another kind than the refusal of that item."""
    found = []
    for shape in shapes:
        try:
            read(shape)
        except MalformedInput:
            continue
        except Exception as error:
            found.append((repr(error), repr(shape)[:300]))
    return found


def taken(call: GenAiCall | None) -> None:
    """What becomes of a call up to the queue."""
    if call is None:
        return
    sighting = Sighting(
        trace_id="ab" * 16,
        span_id="cd" * 8,
        span=True,
        service="news",
        release=None,
        scope="x",
        call=call,
    )
    redacted(record_of(sighting, extraction=Extraction(), received_at=NOW))


def redacted(outcome: object) -> None:
    """Redacted, and written as JSON, as the queue does."""
    if isinstance(outcome, IncomingRecord):
        request = Redaction().record(outcome).request
        json.dumps(None if request is None else dict(request.parameters))


def test_a_posted_record() -> None:
    """From `POST /v1/records`, from a CloudEvent, or from a line of a log."""
    assert unread(spoiled(RECORD), lambda item: redacted(record_from(item, received_at=NOW))) == []


@pytest.mark.parametrize("attributes", [SPAN, NUMBERED, INFERENCE], ids=["span", "flat", "input"])
@pytest.mark.parametrize("as_text", [False, True], ids=["values", "strings"])
def test_a_span(attributes: dict[str, Any], as_text: bool) -> None:
    """Attributes are structured values, or JSON in strings."""

    def read(told: Any) -> None:
        if isinstance(told, dict):
            written = {
                name: json.dumps(value) if as_text and isinstance(value, list | dict) else value
                for name, value in told.items()
            }
            taken(genai.of_span(written, events=(), failed=False))

    assert unread(spoiled(attributes), read) == []


@pytest.mark.parametrize(
    ("name", "body"),
    [("choice", CHOICE), ("user.message", TURN), ("assistant.message", CHOICE["message"])],
)
def test_an_event(name: str, body: dict[str, Any]) -> None:
    """One event a message, as older instrumentations write them."""

    def read(told: Any) -> None:
        taken(genai.of_event(genai.Event(name=f"gen_ai.{name}", attributes={}, body=told)))

    assert unread(spoiled(body), read) == []


@pytest.mark.parametrize(
    ("half", "begin", "body"),
    [
        ("request", "", REQUEST),
        ("response", "", ANSWER),
        ("response", "", RESPONSE),
        ("response", "data: ", CHUNK),
        ("response", "data: ", {"choices": CHUNK["choices"]}),
    ],
)
def test_a_logged_call(half: str, begin: str, body: dict[str, Any]) -> None:
    """What a model server was asked and answered is logged as it stands, whatever it is."""
    headers = {
        "ce-id": "7",
        "ce-inferenceservicename": "news",
        "ce-type": f"org.kubeflow.serving.inference.{half}",
    }

    def read(told: Any) -> None:
        taken(kserve.sighting(headers, f"{begin}{json.dumps(told)}\n".encode()).call)

    assert unread(spoiled(body), read) == []
