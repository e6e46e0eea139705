"""Whether a threshold is exceeded, since when and by which records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.findings.series import Series

BREACH_STATES = ("open", "resolved")
"""Of a breach; before it opened there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThresholdState:
    """Where one threshold of one series stands after an evaluation."""

    threshold: str
    series: Series
    state: str
    """`ok`, `pending`, `open` or `resolved`."""
    number: int
    """How many of its breaches have opened so far."""
    value: float | None
    """The statistic now; `None` with a reason."""
    limit: float | None
    level: float | None
    """Of `share_above`, as it applies now."""
    records: int
    reason: str | None
    """Why there is no value: `too_few_records`, `no_reference` or `not_watched`."""
    evaluated_at: datetime
    stored: Mapping[str, Any]
    """All of `breaches.lifecycle.Breach`, to go on with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachContributor:
    """A record that helped to open a breach, and what people said of it."""

    record_id: str
    value: float
    weight: float
    """1/π."""
    place: int
    """1 contributed most."""
    release: str | None
    mark: bool | None
    """Whether it was rightly in the breach; `None` before anybody said."""
    marked_by: str | None
    marked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachRow:
    """A breach that opened; it stays stored after it was resolved."""

    id: str
    """Stable: the same threshold, series and number give the same id."""
    threshold: str
    series: Series
    number: int
    signal: str
    statistic: str
    comparison: str
    severity: str
    state: str
    """`open` or `resolved`."""
    exceeded_since: datetime
    opened_at: datetime
    resolved_at: datetime | None
    value: float | None
    """The statistic at the last evaluation that had an answer, up to the end."""
    worst: float | None
    limit: float | None
    window_seconds: float
    records: int
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachDetail:
    """A breach with the records that contributed most."""

    breach: BreachRow
    contributors: tuple[BreachContributor, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkCounts:
    """How on-call people judged the records of a threshold's breaches."""

    threshold: str
    true: int
    false: int
