"""Finding the document inside a prompt.

A prompt wraps the document in instructions ("Summarise the following article."); what is
reworded later must be the document alone, or the perturbed instruction would be blamed on
the model. A rule from the configuration says where the document stands; the default takes
the last user message and cuts off instructions before and after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from monitor.errors import ConfigurationError, choices
from monitor.ingest.instructions import without_instructions
from monitor.records import Message, Reason

Finder = Callable[[str], str | None]
"""Cuts the document out of one message; `None` where the message holds none."""

RULES = ("last_user_message", "regex", "delimiters")
_TURNS_OF_THE_MODEL = frozenset({"assistant", "tool", "function"})


class Extraction:
    """Cuts the document out of the messages of a request.

    The messages are searched from the last to the first. `regex` and `delimiters` look at
    every message that the model did not write; `last_user_message` looks at user messages,
    and goes back beyond one that holds nothing but an instruction.

    The document is always a literal part of one message, so a replay can replace it.
    """

    def __init__(
        self,
        *,
        rule: str = "last_user_message",
        pattern: str | None = None,
        begin: str | None = None,
        end: str | None = None,
    ) -> None:
        """Raises `ConfigurationError` for a rule that is unknown or lacks its parts."""
        self._find: Finder
        self._roles: frozenset[str] | None = None
        if rule == "last_user_message":
            self._find = without_instructions
            self._roles = frozenset({"user"})
        elif rule == "regex":
            self._find = _by_pattern(pattern)
        elif rule == "delimiters":
            self._find = _by_delimiters(begin, end)
        else:
            raise ConfigurationError(
                f"ingest.extraction.rule is {rule!r}; set it to {choices(RULES)}"
            )

    def document(self, messages: Sequence[Message]) -> str | Reason:
        """The document, without the blank space around it, or why there is none.

        `DOCUMENT_NOT_FOUND` where no message holds one, `DOCUMENT_NOT_LAST` where a turn
        of the model follows it, `EMPTY_DOCUMENT` where its place is there but empty.
        """
        model_spoke = False
        for message in reversed(messages):
            if message.role in _TURNS_OF_THE_MODEL:
                model_spoke = True
            elif self._roles is None or message.role in self._roles:
                found = self._find(message.content)
                if found is None:
                    continue
                if model_spoke:
                    return Reason.DOCUMENT_NOT_LAST
                return found.strip() or Reason.EMPTY_DOCUMENT
        return Reason.DOCUMENT_NOT_FOUND


def _by_pattern(pattern: str | None) -> Finder:
    try:
        compiled = re.compile(pattern or "", re.DOTALL)
    except re.error as error:
        raise ConfigurationError(
            f"ingest.extraction.pattern is {pattern!r}: {error}; "
            "give a regular expression of Python's `re`"
        ) from error
    if "document" not in compiled.groupindex:
        raise ConfigurationError(
            f"ingest.extraction.pattern is {pattern!r}; mark the document in it as (?P<document>…)"
        )

    def find(text: str) -> str | None:
        match = compiled.search(text)
        return None if match is None else match.group("document")

    return find


def _by_delimiters(begin: str | None, end: str | None) -> Finder:
    if not begin or not end:
        missing = "begin" if not begin else "end"
        raise ConfigurationError(
            f"ingest.extraction.{missing} is empty; the rule 'delimiters' needs the text "
            "before and after the document"
        )

    def find(text: str) -> str | None:
        # From the back: instructions often name the delimiters before they are used.
        stop = text.rfind(end)
        start = text.rfind(begin, 0, stop) if stop >= 0 else -1
        return text[start + len(begin) : stop] if start >= 0 else None

    return find
