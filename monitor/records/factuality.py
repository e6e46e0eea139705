"""How far the document bears out what its summary says."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.records.outcome import Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsupportedFact:
    """An entity or number of the summary that the document does not hold."""

    kind: str
    """`entity` or `number`."""
    text: str
    """As the summary writes it."""
    start: int
    """Code-point offset in the summary."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """How much of what a summary names is in its document."""

    entity_support: float | None
    """Supported / named entities, in [0, 1]."""
    entity_reason: Reason | None
    number_support: float | None
    number_reason: Reason | None
    unsupported: tuple[UnsupportedFact, ...]
    entities: int
    numbers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FactualScore:
    """What one factual check found about one summary; higher is more faithful."""

    value: float | None
    reason: Reason | None
    """Why there is no value; `None` where there is one."""
    detail: str = ""
    """For people; never a text."""
    sentences: tuple[float, ...] = ()
    """The value of each sentence of the summary."""
