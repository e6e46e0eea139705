"""Reading a large JSON text part by part.

`json.loads` builds the whole tree at once: 16 MiB of small values become more than 300 MB
of Python objects, and a text with a single emoji is held at four bytes a character beside
its source. Here the outer objects and arrays are walked on the bytes, and only a part of
at most `SMALL` bytes, or a leaf that the caller asks for, is ever built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from monitor.errors import MalformedInput

SMALL = 512 * 1024
"""Parts up to this many bytes are built at once: it is faster than walking them."""

_MOST_DEPTH = 200
_MOST_VALUES = 400_000
"""In one leaf; at about 100 bytes each that is 40 MB of objects."""

_BLANK = re.compile(rb"[ \t\r\n]*")
_TOKEN = re.compile(rb'"[^"\\]*"|["\[\]{}]')
"""A string without escapes, a bracket, or the quote that opens another string."""
_SCALAR = re.compile(rb"[^\s,\]}]+")
_QUOTE, _BACKSLASH = 0x22, 0x5C
_OPENING = frozenset(b"[{")

Source = bytes | bytearray


@dataclass(frozen=True, slots=True)
class Part:
    """A value that was not built: `source[start:stop]`."""

    source: Source
    start: int
    stop: int
    ends: Mapping[int, int] = field(default_factory=dict)
    """Where the large values begin and end, so that each is walked only once."""


def whole(source: Source) -> Part:
    """The only value of a JSON text. Raises `MalformedInput`."""
    start = first(source)
    ends: dict[int, int] = {}
    stop = end_of_value(source, start, note=ends)
    if after_blank(source, stop) != len(source):
        raise _malformed("something follows its value")
    return Part(source, start, stop, ends)


def first(source: Source) -> int:
    """Where the first value begins, after a byte order mark and blank space."""
    return after_blank(source, 3 if source.startswith(b"\xef\xbb\xbf") else 0)


def value(part: Any) -> Any:
    """The part as Python values. Raises `MalformedInput` for what is no JSON or no UTF-8."""
    if not isinstance(part, Part):
        return part
    if part.stop - part.start > SMALL:
        end_of_value(part.source, part.start, limit=_MOST_VALUES)
    try:
        text = str(memoryview(part.source)[part.start : part.stop], "utf-8")
        return json.loads(text)
    except RecursionError:
        raise _malformed("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise _malformed("it is not in UTF-8") from None
    except ValueError:
        # The original error holds the text; it must not reach a log.
        raise _malformed("it cannot be parsed") from None


def fields(part: Any) -> dict[str, Any]:
    """The members of an object, those of a large one as parts. Raises `MalformedInput`."""
    if not isinstance(part, Part) or part.stop - part.start <= SMALL:
        built = value(part)
        if not isinstance(built, dict):
            raise _malformed("a list or a plain value stands where an object belongs")
        return built
    source = part.source
    if source[part.start] != ord("{"):
        raise _malformed("a list or a plain value stands where an object belongs")
    members: dict[str, Any] = {}
    position = after_blank(source, part.start + 1)
    while source[position : position + 1] != b"}":
        stop = end_of_value(source, position)
        name = value(Part(source, position, stop))
        if not isinstance(name, str):
            raise _malformed("a name is not a string")
        position = after_blank(source, stop)
        if source[position : position + 1] != b":":
            raise _malformed("a name has no value")
        position = after_blank(source, position + 1)
        stop = part.ends.get(position) or end_of_value(source, position)
        members[name] = Part(source, position, stop, part.ends)
        position = _after(source, stop, b"}")
    return members


def elements(part: Any) -> Iterator[Any]:
    """The elements of an array, those of a large one as parts. Raises `MalformedInput`."""
    if not isinstance(part, Part) or part.stop - part.start <= SMALL:
        built = value(part)
        if not isinstance(built, list):
            raise _malformed("something else stands where a list belongs")
        yield from built
        return
    source = part.source
    if source[part.start] != ord("["):
        raise _malformed("something else stands where a list belongs")
    position = after_blank(source, part.start + 1)
    while source[position : position + 1] != b"]":
        stop = part.ends.get(position) or end_of_value(source, position)
        yield Part(source, position, stop, part.ends)
        position = _after(source, stop, b"]")


def end_of_value(
    source: Source, start: int, *, limit: int | None = None, note: dict[int, int] | None = None
) -> int:
    """Where the value that begins at `start` ends.

    With `limit` it may hold at most so many values; in `note` the ends of all large values
    in it are written down. Only brackets and strings are matched here; `value` finds what
    else is wrong.
    """
    opening = source[start] if start < len(source) else -1
    if opening == _QUOTE:
        return _end_of_string(source, start + 1)
    if opening not in _OPENING:
        scalar = _SCALAR.match(source, start)
        if scalar is None:
            raise _malformed("it ends too early")
        return scalar.end()
    values, position = 0, start
    opened: list[int] = []
    while token := _TOKEN.search(source, position):
        begin, end = token.span()
        if limit is not None:
            values += 1 + source.count(b",", position, begin)
            if values > limit:
                raise _malformed(f"one item of it holds more than {limit} values")
        position = end
        if end - begin > 1:
            continue
        kind = source[begin]
        if kind == _QUOTE:
            position = _end_of_string(source, end)
        elif kind in _OPENING:
            opened.append(begin)
            if len(opened) > _MOST_DEPTH:
                raise _malformed(f"it is nested deeper than {_MOST_DEPTH} levels")
        else:
            inner = opened.pop()
            if note is not None and position - inner > SMALL:
                note[inner] = position
            if not opened:
                return position
    raise _malformed("it ends too early")


def _end_of_string(source: Source, position: int) -> int:
    while (quote := source.find(b'"', position)) >= 0:
        before = quote - 1
        while source[before] == _BACKSLASH:
            before -= 1
        if (quote - before) % 2 == 1:
            return quote + 1
        position = quote + 1
    raise _malformed("a string does not end")


def _after(source: Source, position: int, closing: bytes) -> int:
    """Where the next member begins, or `closing` stands."""
    position = after_blank(source, position)
    found = source[position : position + 1]
    if found == b",":
        position = after_blank(source, position + 1)
        if source[position : position + 1] == closing:
            raise _malformed("a comma stands before a closing bracket")
        return position
    if found != closing:
        raise _malformed("a comma or a closing bracket is missing")
    return position


def after_blank(source: Source, position: int) -> int:
    """The first position from here on that holds no blank space."""
    match = _BLANK.match(source, position)
    return position if match is None else match.end()


def _malformed(problem: str) -> MalformedInput:
    return MalformedInput("body", f"no valid JSON, {problem}", "send well-formed JSON in UTF-8")
