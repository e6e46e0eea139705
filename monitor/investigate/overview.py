"""The overview: every series at a glance, worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import sqrt
from typing import Final

from monitor.findings import BreachRow, DriftFinding, Series, ThresholdState
from monitor.investigate.overview_parts import Mean, Overview, OverviewRow, Standing
from monitor.investigate.sources import Sources
from monitor.records import RecordState
from monitor.settings.ranges import signal_range
from monitor.storage.breach_list import BreachFilter
from monitor.storage.overview import SeriesCourse, courses, window_start
from monitor.storage.student import t_quantile
from monitor.storage.windows import Signal, WindowMean, window_means

COURSE: Final = timedelta(hours=6)
"""What a sparkline spans."""
MAX_ROWS: Final = 200
"""Names come from senders: one that names a service after each request must not make a page
of ten thousand rows."""
_SIGNALS: Final = (Signal.HSS, Signal.ENTITY_SUPPORT, Signal.NUMBER_SUPPORT, Signal.NULL_DISTANCE)
_WORST_FIRST: Final = tuple(Standing)


def overview(sources: Sources, *, limit: int = MAX_ROWS) -> Overview:
    """The state of everything now, with at most `limit` series."""
    now = sources.clock()
    until = now + timedelta(seconds=1)
    run = courses(sources.database, since=now - COURSE, until=until)
    since = window_start(sources.database, since=now - sources.window, until=until)
    means = window_means(sources.database, since=since, until=until, signals=_SIGNALS)
    breaches = sources.breaches.list_breaches(BreachFilter(state="open"), limit=200).rows
    lease = sources.evaluator()
    known = _Known(
        courses={each.series: each for each in run.series},
        means={(_series(each), each.signal): each for each in means},
        breaches=breaches,
        findings=sources.drift.findings(),
        pending=[s for s in sources.breaches.threshold_states() if s.state == "pending"],
    )
    rows = [_row(known, series) for series in known.series()]
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """What there is to say about all series."""

    courses: Mapping[Series, SeriesCourse]
    means: Mapping[tuple[Series, Signal], WindowMean]
    breaches: tuple[BreachRow, ...]
    findings: Sequence[DriftFinding]
    pending: Sequence[ThresholdState]

    def series(self) -> list[Series]:
        """Those that had traffic, and those that something is wrong with."""
        return sorted(
            set(self.courses)
            | {series for series, _ in self.means}
            | {breach.series for breach in self.breaches}
            | {finding.series for finding in self.findings if finding.state == "drifted"}
        )


def _row(known: _Known, series: Series) -> OverviewRow:
    course = known.courses.get(series)
    states = course.states if course is not None else {}
    findings = [finding for finding in known.findings if finding.series == series]
    breaches = tuple(breach for breach in known.breaches if breach.series == series)
    pending = tuple(sorted(s.threshold for s in known.pending if s.series == series))
    hss, entities, numbers, null = (_mean(known.means.get((series, each))) for each in _SIGNALS)
    waiting = states.get(RecordState.QUEUED, 0) + states.get(RecordState.LEASED, 0)
    scored = states.get(RecordState.SCORED, 0)
    return OverviewRow(
        service=series.service,
        model=series.model,
        category=series.category,
        standing=_standing(breaches, pending, findings, scored=scored, waiting=waiting),
        hss=hss,
        entity_support=entities,
        number_support=numbers,
        null_distance=null,
        drifted=_signals(findings, "drifted"),
        suspect=_signals(findings, "suspect"),
        pending=pending,
        breaches=breaches,
        course=course.means if course is not None else (),
        scored=scored,
        ended=states.get(RecordState.SKIPPED, 0) + states.get(RecordState.FAILED, 0),
        waiting=waiting,
        last_received_at=course.last_received_at if course is not None else None,
    )


def _series(mean: WindowMean) -> Series:
    return Series(service=mean.service, model=mean.model, category=mean.category)


def _worst(row: OverviewRow) -> int:
    return _WORST_FIRST.index(row.standing)


def _mean(found: WindowMean | None) -> Mean | None:
    if found is None:
        return None
    margin = (
        None if found.variance is None else t_quantile(found.clusters - 1) * sqrt(found.variance)
    )
    least, most = signal_range(found.signal)
    return Mean(
        mean=found.mean,
        low=None if margin is None else max(least, found.mean - margin),
        high=None if margin is None else min(most, found.mean + margin),
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
