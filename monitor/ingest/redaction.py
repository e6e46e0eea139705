"""Taking personal data out of texts before anything is stored.

E-mail addresses, telephone numbers, payment card numbers (checked by Luhn's formula) and
whatever the configuration adds are replaced by a placeholder of their kind. The document,
the summaries and the captured request are treated alike, so the redacted document still
stands word for word in the redacted request; a request in which that cannot be, because a
match reaches over the document's edge, is dropped. Every quantifier is bounded, and a match can
begin only where a run of its characters begins: the time is linear in the text's length.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from monitor.errors import ConfigurationError
from monitor.records import CapturedRequest, IncomingRecord, Message

_EMAIL = re.compile(
    # O'Neill has an apostrophe; links and HTML write the @ otherwise.
    r"(?<![\w.%+\-])(?<![\w.%+\-]['’])[\w.%+\-](?:['’]?[\w.%+\-]){0,63}"
    r"(?:@|＠|%40|&#64;)(?:[\w\-]{1,63}\.){1,8}[^\W\d_][\w\-]{1,62}(?![\w\-])"
)
_CARD = re.compile(r"(?<![\d.,])(?<!\d[ -])[0-9](?:[ -]?[0-9]){12,18}(?![ -]?[0-9])")
_PHONE = re.compile(
    r"""(?<![\w+\-])(?<![0-9][.,/:])(?:
    (?:\+|00)[1-9][0-9]{0,2}(?:[ .\-/]?\(0?[0-9]{0,4}\))?(?:[ .\-/]?[0-9]{1,5}){2,6}
    | \(0?[0-9]{2,5}\)[ .\-]?[0-9]{2,4}(?:[ .\-]?[0-9]{2,4}){1,3}
    | 0[1-9][0-9]{0,3}[ \-/][0-9]{3,4}(?:[ \-]?[0-9]{2,4}){1,2}
    | 0[1-9][0-9]{8,9}
    | (?:1[ .\-])?[2-9][0-9]{2}[.\-][0-9]{3}[.\-][0-9]{4}
    | [2-9][0-9]{2}[ ][0-9]{3}[ ][0-9]{4}
    )(?![\w]|[.,\-/][0-9])""",
    re.VERBOSE,
)
_PIECE = 32 * 1024
_BETWEEN_WORDS = re.compile(r"[^\W\d_] (?=[^\W\d_])|\n")
_PHONE_DIGITS = range(7, 16)


class Redaction:
    """Replaces personal data by `[EMAIL]`, `[PHONE]`, `[CARD]` and `[REDACTED]`."""

    def __init__(self, *, patterns: Iterable[str] = ()) -> None:
        """`patterns` are more regular expressions; raises `ConfigurationError` for a bad one."""
        self._patterns = [_compiled(pattern) for pattern in patterns]

    def text(self, text: str) -> str:
        """The text with every match replaced.

        >>> Redaction().text("Call +353 1 666 0000 or mail press@garda.ie.")
        'Call [PHONE] or mail [EMAIL].'
        """
        for pattern in self._patterns:
            text = pattern.sub(lambda match: "[REDACTED]" if match.group() else "", text)
        return "".join(map(_redacted, _pieces(text)))

    def record(self, record: IncomingRecord) -> IncomingRecord:
        """The record with all its texts redacted, alike."""
        request = record.request
        return replace(
            record,
            document=self.text(record.document),
            summary=self.text(record.summary),
            alternatives=tuple(self.text(text) for text in record.alternatives),
            request=None if request is None else self._request(request, record.document),
        )

    def _request(self, request: CapturedRequest, document: str) -> CapturedRequest | None:
        messages = []
        for message in request.messages:
            content = self._around(message.content, document)
            if content is None:
                return None
            messages.append(Message(role=message.role, content=content))
        return CapturedRequest(
            messages=tuple(messages),
            model=request.model,
            parameters=self._values(request.parameters),
        )

    def _around(self, text: str, document: str) -> str | None:
        """Redacts a message and the document in it apart, so that the one stays in the other.

        None where something to be redacted stands across an edge between the two.
        """
        if not document:
            return self.text(text)
        redacted = self.text(document)
        first, *others = text.split(document)
        pieces, edges = [self.text(first)], [0]
        for part in others:
            for piece in (redacted, self.text(part)):
                edges.append(edges[-1] + len(pieces[-1]))
                pieces.append(piece)
        content = "".join(pieces)
        # What stands behind a number can decide where it ends, so joining may also show one that
        # stands on one side of an edge only.
        left = any(_redacted(piece) != piece for piece in _pieces(content))
        return None if left or self._matches_across(content, edges[1:]) else content

    def _matches_across(self, text: str, edges: Sequence[int]) -> bool:
        """Whether something to be redacted stands across one of the positions, in order."""
        if not edges:
            return False
        found = [match.span() for own in self._patterns for match in own.finditer(text)]
        start = 0
        for piece in _pieces(text):
            for pattern, is_personal in _PERSONAL:
                found += [
                    (start + match.start(), start + match.end())
                    for match in pattern.finditer(piece)
                    if is_personal(match)
                ]
            start += len(piece)
        return any(bisect_right(edges, begin) < bisect_left(edges, end) for begin, end in found)

    def _values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {self.text(name): self._value(value) for name, value in values.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._values(value)
        if isinstance(value, list | tuple):
            return [self._value(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A card's number is one without quotes, too.
            redacted = self.text(str(value))
            return value if redacted == str(value) else redacted
        return value


def _always(match: re.Match[str]) -> bool:
    return True


def _is_card(match: re.Match[str]) -> bool:
    return _luhn(match.group())


def _is_phone(match: re.Match[str]) -> bool:
    return sum(character.isdigit() for character in match.group()) in _PHONE_DIGITS


_PERSONAL = ((_EMAIL, _always), (_CARD, _is_card), (_PHONE, _is_phone))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(
            f"redaction.patterns holds {pattern!r}: {error}; "
            "give regular expressions of Python's `re`"
        ) from error


def _redacted(text: str) -> str:
    """The text redacted until nothing more is found.

    A replaced number changes what stands beside the next one, which may show only then.
    Each round takes digits or an `@` away, so the rounds end.
    """
    while True:
        found = _EMAIL.sub("[EMAIL]", text)
        found = _CARD.sub(lambda m: "[CARD]" if _is_card(m) else m.group(), found)
        found = _PHONE.sub(lambda m: "[PHONE]" if _is_phone(m) else m.group(), found)
        if found == text:
            return text
        text = found


def _pieces(text: str) -> Iterator[str]:
    """The text cut between words, where no pattern of ours can match across.

    A single `sub` over 16 MiB would hold the interpreter, and so all other requests, for
    seconds; between pieces others get their turn.
    """
    start = 0
    while len(text) - start > _PIECE:
        between = _BETWEEN_WORDS.search(text, start + _PIECE)
        if between is None:
            break
        yield text[start : between.end()]
        start = between.end()
    yield text[start:]


def _luhn(number: str) -> bool:
    """Luhn's check: from the right, every second digit doubled, digit sums add to 10·n."""
    digits = [int(character) for character in reversed(number) if character.isdigit()]
    total = sum(digits[0::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return total % 10 == 0
