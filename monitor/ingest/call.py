"""One call of a language model, in a form that no client library owns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from monitor.ingest.text import storable_values
from monitor.records import Message

T = TypeVar("T")

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_TOOL_TYPES = frozenset(
    {"tool_call", "server_tool_call", "tool_use", "function_call", "custom_tool_call"}
)
_TOOL_FINISHES = frozenset({"tool_call", "tool_calls", "tool_use", "function_call"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One of the answers of a call."""

    text: str | None
    """`None` where the client did not tell it; `""` where the model said nothing."""
    finish_reason: str | None = None
    calls_tool: bool = False

    @property
    def is_tool_call(self) -> bool:
        """Whether the answer asks for a tool instead of being a text."""
        return self.calls_tool or self.finish_reason in _TOOL_FINISHES


@dataclass(frozen=True, kw_only=True, slots=True)
class GenAiCall:
    """What is known of one call; `None` means that the source did not tell."""

    operation: str | None = None
    """`chat`, `text_completion`, `embeddings`, … as the GenAI conventions name them."""
    requested_model: str | None = None
    response_model: str | None = None
    messages: tuple[Message, ...] | None = None
    choices: tuple[Choice, ...] | None = None
    """In the order of their index; the first is what the service answered."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """By their OpenAI names."""
    finish_reasons: tuple[str, ...] = ()
    error: str | None = None
    """Type of the failure, where the call failed."""
    oversized: bool = False
    """A text of the call was too long to be read at all."""

    @property
    def complete(self) -> bool:
        """Whether prompt and first answer are both there, or never will be."""
        return self.oversized or (bool(self.messages) and self.answered)

    @property
    def answered(self) -> bool:
        """Whether the first answer is known, as text or as a call of a tool."""
        return self.calls_tool or bool(self.choices and self.choices[0].text is not None)

    @property
    def calls_tool(self) -> bool:
        """Whether the first answer is a call of a tool, as far as is known."""
        if not self.choices:
            return bool(_TOOL_FINISHES.intersection(self.finish_reasons[:1]))
        return self.choices[0].is_tool_call

    def joined(self, later: GenAiCall) -> GenAiCall:
        """This call with what only `later`, another sight of the same call, knows."""
        return GenAiCall(
            operation=self.operation or later.operation,
            requested_model=self.requested_model or later.requested_model,
            response_model=self.response_model or later.response_model,
            messages=self.messages or later.messages,
            choices=self.choices if self.answered else (later.choices or self.choices),
            parameters={**later.parameters, **self.parameters},
            finish_reasons=self.finish_reasons or later.finish_reasons,
            error=self.error or later.error,
            oversized=self.oversized or later.oversized,
        )

    def followed_by(self, event: GenAiCall) -> GenAiCall:
        """This call with the next of its per-message events appended."""
        appended = self.joined(event)
        return GenAiCall(
            operation=appended.operation,
            requested_model=appended.requested_model,
            response_model=appended.response_model,
            messages=_appended(self.messages, event.messages),
            choices=_appended(self.choices, event.choices),
            parameters=appended.parameters,
            finish_reasons=appended.finish_reasons,
            error=appended.error,
            oversized=appended.oversized,
        )


def _appended(first: tuple[T, ...] | None, then: tuple[T, ...] | None) -> tuple[T, ...] | None:
    return then if first is None else first if then is None else first + then


def text_of(content: object, *, between: str) -> str | None:
    """The text of a message's content: a string, or a list of typed parts.

    Parts of reasoning, images, files and tool calls are left out: they are neither
    prompt nor summary. `None` where the content holds no text part at all.
    """
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Iterable):
        return None
    texts = [text for part in content if (text := _part_text(part)) is not None]
    return between.join(texts) if texts else None


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    kind = part.get("type", "text")
    if kind == "tool_call_response":
        response = part.get("response")
        return response if isinstance(response, str) else json.dumps(storable_values(response))
    if not is_one_of(kind, _TEXT_TYPES):
        return None
    for name in ("content", "text", kind):
        text = part.get(name)
        if isinstance(text, str):
            return text
    return None


def has_tool_call(content: object) -> bool:
    """Whether a list of parts asks for a tool.

    >>> has_tool_call([{"type": "text", "text": "A"}, {"type": "tool_call", "name": "weather"}])
    True
    """
    return isinstance(content, list | tuple) and any(
        isinstance(part, Mapping) and is_one_of(part.get("type"), _TOOL_TYPES) for part in content
    )


def is_one_of(value: object, words: frozenset[str]) -> bool:
    """Whether a value is one of these words; senders put lists and objects there, too.

    >>> is_one_of(["text"], frozenset({"text"}))
    False
    """
    return isinstance(value, str) and value in words
