"""Prompt and body templates in which `{document}` stands for the text.

Only the literal `{document}` is replaced, in one pass: braces elsewhere in a template, and
anything that a document holds, stay as they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

from monitor.errors import ConfigurationError

PLACEHOLDER = "{document}"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def checked_template(template: str, *, field: str) -> str:
    """The template itself; raises `ConfigurationError` where it has no place for the text."""
    if PLACEHOLDER not in template:
        raise ConfigurationError(
            f"{field}: {template!r} has no {PLACEHOLDER}; put it where the text belongs"
        )
    return template


def filled(template: str, document: str) -> str:
    """The prompt for a document.

    >>> filled("Shorten {this}: {document}", "a {document}")
    'Shorten {this}: a {document}'
    """
    return template.replace(PLACEHOLDER, document)


def encodable(text: str) -> str:
    """The text with lone surrogates as `?`: tokenizers written in other languages raise on them.

    >>> encodable("half \\ud83d of it")
    'half ? of it'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def json_filled(template: str, document: str) -> str:
    """A JSON body: the document becomes a JSON string, or part of the string it stands in.

    Whatever the document holds, it cannot leave its string. Non-ASCII characters are
    escaped, so that even a lone surrogate can be sent.

    >>> json_filled('{"text": {document}, "ask": "Shorten: {document}"}', 'a "b"')
    '{"text": "a \\\\"b\\\\"", "ask": "Shorten: a \\\\"b\\\\""}'
    """
    value = json.dumps(document)
    made, end = [], 0
    for string in _STRING.finditer(template):
        made.append(template[end : string.start()].replace(PLACEHOLDER, value))
        made.append(string.group().replace(PLACEHOLDER, value[1:-1]))
        end = string.end()
    made.append(template[end:].replace(PLACEHOLDER, value))
    return "".join(made)


def checked_json_template(template: str, *, field: str) -> str:
    """The template itself; raises `ConfigurationError` where it gives no JSON."""
    checked_template(template, field=field)
    try:
        json.loads(json_filled(template, "text"))
    except ValueError as error:
        raise ConfigurationError(
            f"{field}: gives no JSON with a text in place of {PLACEHOLDER} ({error}); "
            'write it like {"text": {document}}'
        ) from error
    return template


def json_body(value: Any) -> bytes | None:
    """A request body as ASCII JSON; `None` where the value has no JSON form (NaN, bytes)."""
    try:
        return json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return None
