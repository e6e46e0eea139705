"""GenAI telemetry of one span or one log event as a `GenAiCall`.

Shapes that clients send, all taken here:

- current conventions: `gen_ai.input.messages`, `gen_ai.output.messages` and
  `gen_ai.system_instructions`, JSON strings on spans and structured values on events;
- one event a message: `gen_ai.user.message`, `gen_ai.choice`, …, in logs or on the span;
- OpenLLMetry's `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`;
- OpenInference's `llm.input_messages.N.*`, `input.value` and `output.value`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from monitor.ingest import openai
from monitor.ingest.call import Choice, GenAiCall, is_one_of, text_of
from monitor.ingest.flat import choices_at, messages_at
from monitor.records import Message

Attributes = Mapping[str, Any]

SUMMARIZING_OPERATIONS = frozenset({"chat", "text_completion", "completion", "generate_content"})
"""The others (`embeddings`, `execute_tool`, `invoke_agent`, …) hold no summary of their own:
the model call inside an agent has its own span."""

_PARAMETERS = {
    "gen_ai.request.temperature": "temperature",
    "gen_ai.request.max_tokens": "max_tokens",
    "gen_ai.request.top_p": "top_p",
    "gen_ai.request.top_k": "top_k",
    "gen_ai.request.frequency_penalty": "frequency_penalty",
    "gen_ai.request.presence_penalty": "presence_penalty",
    "gen_ai.request.seed": "seed",
    "gen_ai.request.stop_sequences": "stop",
    "gen_ai.request.choice.count": "n",
}
_INPUTS = ("gen_ai.input.messages", "gen_ai.prompt")
_OUTPUTS = ("gen_ai.output.messages", "gen_ai.completion")


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A log record, or an event of a span."""

    name: str
    attributes: Attributes
    body: object = None


def of_span(attributes: Attributes, *, events: Iterable[Event], failed: bool) -> GenAiCall | None:
    """The call that a span tells of; `None` where it is no call of a language model.

    `failed` is whether the span's status is an error.
    """
    if not _is_genai(attributes):
        return None
    call = _of_attributes(attributes)
    by_message = GenAiCall()
    for event in events:
        if (told := of_event(event)) is not None:
            if is_per_message(event):
                by_message = by_message.followed_by(told)
            else:
                call = call.joined(told)
    call = call.joined(by_message)
    if failed and call.error is None:
        call = call.joined(GenAiCall(error="error"))
    return call


def of_event(event: Event) -> GenAiCall | None:
    """What one event tells of its call; `None` where it is no GenAI event.

    A per-message event holds one message or one choice, to be put together with
    `GenAiCall.followed_by` in the order in which they came.
    """
    if _is_whole(event):
        return _of_attributes(event.attributes)
    kind, _, rest = event.name.removeprefix("gen_ai.").partition(".")
    if not event.name.startswith("gen_ai.") or (rest != "message" and kind != "choice"):
        return None
    body = _loaded(event.body if event.body is not None else event.attributes.get(_CONTENT))
    body = body if isinstance(body, Mapping) else {}
    if kind == "choice":
        return GenAiCall(choices=(openai.choice_of(body),))
    content = text_of(body.get("content"), between="\n\n")
    if content is None and kind != "assistant":
        return GenAiCall()
    role = body.get("role")
    role = role if isinstance(role, str) and role else kind
    return GenAiCall(messages=(Message(role=role, content=content or ""),))


_CONTENT = "gen_ai.event.content"
"""Where clients that write events onto spans put the body, as a JSON string."""


def is_per_message(event: Event) -> bool:
    """Whether an event tells one message of its call, not the whole call."""
    return not _is_whole(event)


def _is_whole(event: Event) -> bool:
    return event.name == "gen_ai.client.inference.operation.details" or any(
        key in event.attributes for key in (*_INPUTS, *_OUTPUTS)
    )


def _is_genai(attributes: Attributes) -> bool:
    operation = attributes.get("gen_ai.operation.name")
    if operation is not None:
        return is_one_of(operation, SUMMARIZING_OPERATIONS)
    kind = attributes.get("openinference.span.kind")
    if kind is not None:
        return bool(kind == "LLM")
    kind = attributes.get("llm.request.type")
    if kind is not None:
        return is_one_of(kind, SUMMARIZING_OPERATIONS)
    # `traceloop.span.kind` marks workflows and tasks, which repeat what their calls say.
    return "gen_ai.request.model" in attributes and "traceloop.span.kind" not in attributes


LONGEST_TEXT = 2_000_000
"""Code points of an attribute that is still read: some 300,000 words. Four bytes a character and
several copies on the way would else take more memory than a sidecar may."""


def _of_attributes(attributes: Attributes) -> GenAiCall:
    readable = {
        key: value
        for key, value in attributes.items()
        if not (isinstance(value, str) and len(value) > LONGEST_TEXT)
    }
    if len(readable) < len(attributes):
        return replace(_of_attributes(readable), oversized=True)
    invocation = _mapping(attributes.get("llm.invocation_parameters"))
    request = openai.of_request(_mapping(attributes.get("input.value")))
    parameters = openai.parameters_of(invocation)
    for key, name in _PARAMETERS.items():
        if (value := attributes.get(key)) is not None:
            parameters[name] = value
    asked = attributes.get("gen_ai.request.model") or invocation.get("model")
    answered = attributes.get("gen_ai.response.model") or attributes.get("llm.model_name")
    finishes = attributes.get("gen_ai.response.finish_reasons")
    error = attributes.get("error.type")
    told = GenAiCall(
        operation=_text(attributes.get("gen_ai.operation.name")),
        requested_model=_text(asked),
        response_model=_text(answered),
        messages=_messages(attributes),
        choices=_choices(attributes),
        parameters=parameters,
        finish_reasons=tuple(str(f) for f in finishes) if isinstance(finishes, list) else (),
        error=_text(error),
    )
    if "input.value" in attributes or "output.value" in attributes:
        answer = openai.of_response(_mapping(attributes.get("output.value")))
        told = told.joined(request).joined(answer)
    return told


def _messages(attributes: Attributes) -> tuple[Message, ...] | None:
    messages: tuple[Message, ...] | None = None
    for key in _INPUTS:
        if messages is None and key in attributes:
            messages = openai.messages_of(_loaded(attributes[key]))
    messages = (
        messages
        or messages_at(attributes, "gen_ai.prompt")
        or messages_at(attributes, "llm.input_messages")
    )
    instructions = text_of(_loaded(attributes.get("gen_ai.system_instructions")), between="\n\n")
    if messages and instructions:
        return (Message(role="system", content=instructions), *messages)
    return messages


def _choices(attributes: Attributes) -> tuple[Choice, ...] | None:
    for key in _OUTPUTS:
        outputs = _loaded(attributes.get(key))
        if isinstance(outputs, list):
            return tuple(openai.choice_of(o) for o in outputs if isinstance(o, Mapping))
        if outputs is not None:
            # An answer may itself be a JSON object: then it is the text as it was sent.
            return (Choice(text=str(attributes[key])),)
    return choices_at(attributes, "gen_ai.completion") or choices_at(
        attributes, "llm.output_messages"
    )


def _loaded(value: object) -> object:
    """JSON out of a string; anything else, and a string that is no JSON, as it stands.

    A list that was cut off (SDKs can limit the length of attributes) is `None`: its
    source text must not pass for a prompt.
    """
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None if value.startswith('[{"') else value
    return value


def _mapping(value: object) -> Mapping[str, Any]:
    loaded = _loaded(value)
    return loaded if isinstance(loaded, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
