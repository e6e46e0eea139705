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
    """Why there is no entity support."""
    number_support: float | None
    """Supported / all numbers that a document can be asked for, in [0, 1]."""
    number_reason: Reason | None
    """Why there is no number support."""
    unsupported: tuple[UnsupportedFact, ...]
    """In the order of the summary."""
    entities: int
    """That the summary names, each mention counted."""
    numbers: int
    """That it holds, likewise."""


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
