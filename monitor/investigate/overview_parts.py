"""What the overview is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.findings import BreachRow, Series


class Standing(StrEnum):
    """How a series stands, worst first."""

    BREACH = "breach"
    """A threshold's breach is open."""
    DRIFTED = "drifted"
    PENDING = "pending"
    """A threshold is exceeded, but not for long enough yet."""
    SUSPECT = "suspect"
    WAITING = "waiting"
    """Records came in, none was scored."""
    STABLE = "stable"
    """Every watched signal is judged, or at least one, and none has drifted."""
    UNJUDGED = "unjudged"
    """Scored, but nothing can be said about drift yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mean:
    """A weighted mean over the window with its 95 % interval, Student's t over traces."""

    mean: float
    low: float | None
    """None with fewer than two traces."""
    high: float | None
    records: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OverviewRow:
    """One series."""

    service: str
    model: str
    category: str
    """Empty where none was decided."""
    standing: Standing
    hss: Mean | None
    """None: no record of the window has an HSS."""
    entity_support: Mean | None
    number_support: Mean | None
    null_distance: Mean | None
    drifted: tuple[str, ...]
    """Signals."""
    suspect: tuple[str, ...]
    pending: tuple[str, ...]
    """Thresholds."""
    breaches: tuple[BreachRow, ...]
    """Open ones."""
    course: tuple[float | None, ...]
    """Mean HSS of equal parts of `Overview.course_since` to `as_of`, oldest first."""
    scored: int
    """Records of that time, by how they stand now."""
    ended: int
    """Skipped or failed."""
    waiting: int
    last_received_at: datetime | None

    @property
    def series(self) -> Series:
        return Series(service=self.service, model=self.model, category=self.category)


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """Everything that the overview shows."""

    as_of: datetime
    means_since: datetime
    """Means are over records received from then on …"""
    course_since: datetime
    """… and sparklines from then on."""
    course_complete: bool
    """False: there are so many records that the sparklines begin later than asked for."""
    evaluated_at: datetime | None
    """End of the last complete judgement; None: nothing judges."""
    breaches: tuple[BreachRow, ...]
    """Open ones, newest first."""
    rows: tuple[OverviewRow, ...]
    """Worst first, then by service, model and category; at most `MAX_ROWS`."""
    unlisted: int
    """Series beyond those: none of them stands worse, and of equals the busiest are listed."""
