"""The overview: every series at a glance, worst first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import sqrt
from typing import Final

from monitor.findings import BreachRow, DriftFinding, Series
from monitor.investigate.sources import Sources
from monitor.records import RecordState
from monitor.storage.breach_store import BreachFilter
from monitor.storage.overview import courses, window_start
from monitor.storage.student import t_quantile
from monitor.storage.windows import Signal, WindowMean, window_means

COURSE: Final = timedelta(hours=6)
"""What a sparkline spans."""
MAX_ROWS: Final = 200
"""Names come from senders: one that names a service after each request must not make a page
of ten thousand rows."""
_SIGNALS: Final = (Signal.HSS, Signal.ENTITY_SUPPORT, Signal.NUMBER_SUPPORT, Signal.NULL_DISTANCE)


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


_WORST_FIRST: Final = tuple(Standing)


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


def overview(sources: Sources, *, limit: int = MAX_ROWS) -> Overview:
    """The state of everything now, with at most `limit` series."""
    now = sources.clock()
    until = now + timedelta(seconds=1)
    run = courses(sources.database, since=now - COURSE, until=until)
    since = window_start(sources.database, since=now - sources.window, until=until)
    means: dict[tuple[Series, Signal], WindowMean] = {
        (Series(service=each.service, model=each.model, category=each.category), each.signal): each
        for each in window_means(sources.database, since=since, until=until, signals=_SIGNALS)
    }
    breaches = sources.breaches.list_breaches(BreachFilter(state="open"), limit=200).rows
    findings = sources.drift.findings()
    pending = [s for s in sources.breaches.threshold_states() if s.state == "pending"]
    lease = sources.evaluator()
    course = {each.series: each for each in run.series}
    known = (
        set(course)
        | {series for series, _ in means}
        | {breach.series for breach in breaches}
        | {finding.series for finding in findings if finding.state == "drifted"}
    )
    rows = []
    for series in sorted(known):
        ran = course.get(series)
        states = ran.states if ran is not None else {}
        of_series = [finding for finding in findings if finding.series == series]
        opened = tuple(breach for breach in breaches if breach.series == series)
        held = tuple(sorted(s.threshold for s in pending if s.series == series))
        hss, entities, numbers, null = (_mean(means.get((series, each))) for each in _SIGNALS)
        waiting = states.get(RecordState.QUEUED, 0) + states.get(RecordState.LEASED, 0)
        scored = states.get(RecordState.SCORED, 0)
        rows.append(
            OverviewRow(
                service=series.service,
                model=series.model,
                category=series.category,
                standing=_standing(opened, held, of_series, scored=scored, waiting=waiting),
                hss=hss,
                entity_support=entities,
                number_support=numbers,
                null_distance=null,
                drifted=_signals(of_series, "drifted"),
                suspect=_signals(of_series, "suspect"),
                pending=held,
                breaches=opened,
                course=ran.means if ran is not None else (),
                scored=scored,
                ended=states.get(RecordState.SKIPPED, 0) + states.get(RecordState.FAILED, 0),
                waiting=waiting,
                last_received_at=ran.last_received_at if ran is not None else None,
            )
        )
    busiest = sorted(rows, key=lambda row: (_worst(row), -row.scored - row.ended - row.waiting))
    listed = sorted(busiest[:limit], key=lambda row: (_worst(row), row.series))
    return Overview(
        as_of=now,
        means_since=since,
        course_since=run.since,
        course_complete=run.complete,
        evaluated_at=lease.evaluated_at if lease is not None else None,
        breaches=breaches,
        rows=tuple(listed),
        unlisted=len(rows) - len(listed),
    )


def _worst(row: OverviewRow) -> int:
    return _WORST_FIRST.index(row.standing)


def _mean(found: WindowMean | None) -> Mean | None:
    if found is None:
        return None
    margin = (
        None if found.variance is None else t_quantile(found.clusters - 1) * sqrt(found.variance)
    )
    unit = found.signal is not Signal.NULL_DISTANCE
    return Mean(
        mean=found.mean,
        low=None if margin is None else max(0.0, found.mean - margin),
        high=None if margin is None else min(1.0 if unit else 2.0, found.mean + margin),
        records=found.records,
    )


def _signals(findings: list[DriftFinding], state: str) -> tuple[str, ...]:
    return tuple(finding.signal for finding in findings if finding.state == state)


def _standing(
    opened: tuple[BreachRow, ...],
    pending: tuple[str, ...],
    findings: list[DriftFinding],
    *,
    scored: int,
    waiting: int,
) -> Standing:
    states = {finding.state for finding in findings}
    if opened:
        return Standing.BREACH
    if "drifted" in states:
        return Standing.DRIFTED
    if pending:
        return Standing.PENDING
    if "suspect" in states:
        return Standing.SUSPECT
    if waiting and not scored:
        return Standing.WAITING
    return Standing.STABLE if "stable" in states else Standing.UNJUDGED
