"""What the paper's factual comparators have in common: a value, or the reason for none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from monitor.errors import ModelUnavailable
from monitor.records import FactualScore, Reason

Splitter = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""The sentences of each of several texts; none for a text without words."""


class Comparator(Protocol):
    """A factual check by a model; higher is more faithful."""

    name: str

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[FactualScore]:
        """One score for each (document, summary), in order."""


class Unavailable:
    """Stands in for a check whose model is not there: every score says so, none is 0."""

    def __init__(self, name: str, detail: str) -> None:
        self.name = name
        self.detail = detail
        """Why its model is not there, for people."""

    def check(self, pairs: Sequence[tuple[str, str]]) -> list[FactualScore]:
        return [missing(Reason.UNAVAILABLE, self.detail) for _ in pairs]


def available(name: str, source: str | None, make: Callable[[str], Comparator]) -> Comparator:
    """The check made from its configured model, or `Unavailable` with the reason.

    `ConfigurationError` (a model with ambiguous labels) is not caught: such a model is
    there, but wrong, and the user has to know before the first score.
    """
    if source is None:
        return Unavailable(name, f"no model is configured for {name}")
    try:
        return make(source)
    except ModelUnavailable as error:
        return Unavailable(name, str(error))


def missing(reason: Reason, detail: str = "") -> FactualScore:
    """No value, for this reason."""
    return FactualScore(value=None, reason=reason, detail=detail)


def unusable(document: Sequence[str], summary: Sequence[str]) -> FactualScore | None:
    """The score of a pair of which one text has no sentence."""
    if not document:
        return missing(Reason.EMPTY_DOCUMENT)
    return None if summary else missing(Reason.EMPTY_SUMMARY)
