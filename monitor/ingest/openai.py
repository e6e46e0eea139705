"""OpenAI's bodies (chat completions, completions, responses; streamed or not) as calls.

The shapes are those of api.openai.com, which other vendors and local servers speak too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from monitor.ingest.call import Choice, GenAiCall, has_tool_call, text_of
from monitor.records import Message

_NOT_PARAMETERS = frozenset(
    {"model", "messages", "input", "prompt", "instructions", "stream", "stream_options"}
    | {"tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"}
    | {"store", "metadata", "user", "previous_response_id", "background", "extra_headers"}
)
"""Not for the template of a replay: carried elsewhere, forbidden there, or about a person."""


def of_request(body: Mapping[str, Any]) -> GenAiCall:
    """What a request body asks for: `messages`, `input` (responses) or `prompt` (completions)."""
    turns = body.get("messages", body.get("input", body.get("prompt")))
    instructions = body.get("instructions")
    messages = messages_of(turns)
    if messages is not None and isinstance(instructions, str):
        messages = (Message(role="system", content=instructions), *messages)
    return GenAiCall(
        requested_model=_text(body.get("model")),
        messages=messages,
        parameters=parameters_of(body),
    )


def parameters_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The generation parameters of a request body: everything but content, tools and storage."""
    return {
        name: value
        for name, value in body.items()
        if name not in _NOT_PARAMETERS and value is not None
    }


def messages_of(turns: object) -> tuple[Message, ...] | None:
    """Messages out of a list of turns (`content` or `parts`), or of a single prompt."""
    if isinstance(turns, str):
        return (Message(role="user", content=turns),)
    if not isinstance(turns, list | tuple):
        return None
    messages = []
    for turn in turns:
        if isinstance(turn, str):
            messages.append(Message(role="user", content=turn))
        elif isinstance(turn, Mapping) and turn.get("type", "message") == "message":
            content = text_of(turn.get("parts", turn.get("content")), between="\n\n")
            # A turn without text (an image, a tool call) still counts: whether an
            # assistant turn follows the document decides if a replay makes sense.
            role = _text(turn.get("role")) or "user"
            messages.append(Message(role=role, content=content or ""))
    return tuple(messages)


def of_response(body: Mapping[str, Any]) -> GenAiCall:
    """What a complete response body (or an error body) says."""
    error = body.get("error")
    call = GenAiCall(
        response_model=_text(body.get("model")),
        error=_error_type(error) if error else None,
    )
    if isinstance(choices := body.get("choices"), list):
        ordered = sorted(_objects(choices), key=_index)
        call = replace(call, choices=tuple(choice_of(choice) for choice in ordered))
    elif isinstance(output := body.get("output"), list):
        call = replace(call, choices=(_responses_choice(output),) if output else ())
    finishes = tuple(c.finish_reason for c in call.choices or () if c.finish_reason)
    return replace(call, finish_reasons=finishes)


def of_stream(lines: Iterable[str]) -> GenAiCall:
    """What the `data:` lines of a server-sent stream add up to.

    Takes chat and completion chunks and the events of the responses API. A line that is
    no JSON is passed over: the stream may have been cut.
    """
    model: str | None = None
    texts: dict[int, list[str]] = {}
    finishes: dict[int, str | None] = {}
    tools: set[int] = set()
    for event in _events(lines):
        if isinstance(response := event.get("response"), Mapping):
            if event.get("type") in ("response.completed", "response.failed"):
                return of_response(response)
            continue
        if event.get("error"):
            return of_response(event)
        model = _text(event.get("model")) or model
        for choice in _objects(event.get("choices")):
            index, delta = _index(choice), choice.get("delta")
            delta = delta if isinstance(delta, Mapping) else {}
            text = _text(delta.get("content")) or _text(choice.get("text")) or ""
            texts.setdefault(index, []).append(text)
            if delta.get("tool_calls") or delta.get("function_call"):
                tools.add(index)
            finishes[index] = _text(choice.get("finish_reason")) or finishes.get(index)
    choices = tuple(
        Choice(text="".join(texts[i]), finish_reason=finishes[i], calls_tool=i in tools)
        for i in sorted(texts)
    )
    return GenAiCall(
        response_model=model,
        choices=choices,
        finish_reasons=tuple(c.finish_reason for c in choices if c.finish_reason),
    )


def choice_of(choice: Mapping[str, Any]) -> Choice:
    """A choice, or an output message of the GenAI conventions (which *is* its message)."""
    inner = choice.get("message")
    message = inner if isinstance(inner, Mapping) else choice
    content = message.get("parts", message.get("content", message.get("text")))
    calls_tool = bool(message.get("tool_calls") or message.get("function_call"))
    calls_tool = calls_tool or has_tool_call(content)
    text = text_of(content, between="")
    if text is None and isinstance(content, list | tuple):
        text = ""
    return Choice(
        text=text,
        finish_reason=_text(choice.get("finish_reason", message.get("finish_reason"))),
        calls_tool=calls_tool,
    )


def _responses_choice(output: object) -> Choice:
    items = _objects(output)
    texts = [
        text_of(item.get("content"), between="") or ""
        for item in items
        if item.get("type", "message") == "message"
    ]
    return Choice(
        text="".join(texts) if texts else None,
        calls_tool=has_tool_call(items),
    )


def _events(lines: Iterable[str]) -> Iterable[Mapping[str, Any]]:
    for line in lines:
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if not data or data == "[DONE]":
            continue
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, Mapping):
            yield event


def _objects(told: object) -> list[Mapping[str, Any]]:
    return [item for item in told if isinstance(item, Mapping)] if isinstance(told, list) else []


def _index(choice: Mapping[str, Any]) -> int:
    index = choice.get("index", 0)
    return index if isinstance(index, int) else 0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _error_type(error: object) -> str:
    if isinstance(error, Mapping):
        return _text(error.get("code")) or _text(error.get("type")) or "error"
    return "error"
