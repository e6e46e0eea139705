"""Messages that are spread over numbered attributes: `<prefix>.N.<field>`.

Two dialects: OpenLLMetry's `gen_ai.prompt.N.content` and `gen_ai.completion.N.content`, and
OpenInference's `llm.input_messages.N.message.content`, whose parts are numbered once more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from monitor.ingest.call import Choice, has_tool_call, text_of
from monitor.records import Message

Fields = dict[str, Any]


def numbered(attributes: Mapping[str, Any], prefix: str) -> list[Fields]:
    """The fields of each number, in order: `{"p.1.a": 5, "p.0.a": 4}` is `[{"a": 4}, {"a": 5}]`.

    Numbers are only compared, never used as an offset: `p.999999999.a` costs nothing.
    """
    start = f"{prefix}."
    groups: dict[int, Fields] = {}
    for key, value in attributes.items():
        if key.startswith(start):
            number, _, name = key[len(start) :].partition(".")
            if name and number.isascii() and number.isdigit() and len(number) < 10:
                groups.setdefault(int(number), {})[name] = value
    return [groups[number] for number in sorted(groups)]


def messages_at(attributes: Mapping[str, Any], prefix: str) -> tuple[Message, ...] | None:
    """The prompt under a prefix; `None` where no message there has a content."""
    turns = [_flattened(fields) for fields in numbered(attributes, prefix)]
    if all(_content(turn, between="\n\n") is None for turn in turns):
        return None
    return tuple(
        Message(role=str(turn.get("role", "user")), content=_content(turn, between="\n\n") or "")
        for turn in turns
    )


def choices_at(attributes: Mapping[str, Any], prefix: str) -> tuple[Choice, ...] | None:
    """The answers under a prefix; `None` where there is none."""
    choices = []
    for fields in numbered(attributes, prefix):
        turn = _flattened(fields)
        finish = turn.get("finish_reason")
        calls = any(name.startswith(("tool_calls.", "function_call")) for name in turn)
        choices.append(
            Choice(
                text=_content(turn, between=""),
                finish_reason=finish if isinstance(finish, str) else None,
                calls_tool=calls or has_tool_call(_parts(turn)),
            )
        )
    return tuple(choices) or None


def _flattened(fields: Fields) -> Fields:
    return {name.removeprefix("message."): value for name, value in fields.items()}


def _content(turn: Fields, *, between: str) -> str | None:
    return text_of(_parts(turn), between=between)


def _parts(turn: Fields) -> object:
    """The content: as it stands, as numbered parts, or as a JSON list in a string."""
    content = turn.get("content")
    if content is None:
        parts = numbered(turn, "contents")
        return [_part(part) for part in parts] if parts else None
    if isinstance(content, str) and content.startswith('[{"'):
        try:
            parsed = json.loads(content)
        except (ValueError, RecursionError):
            return content
        # A document may itself be JSON: only a list of typed parts is taken apart.
        if all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parsed):
            return parsed
    return content


def _part(fields: Fields) -> Fields:
    return {name.removeprefix("message_content."): value for name, value in fields.items()}
