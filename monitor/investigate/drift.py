"""Drift: what has moved away from its frozen reference, since when and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from monitor.errors import UsageError, choices
from monitor.findings import DRIFT_STATES, DriftChange, DriftFinding, Series, StoredReference
from monitor.investigate.sources import Sources
from monitor.storage.distributions import Distribution, Stretch, distributions
from monitor.storage.trends import Trend, trend

WORST_FIRST: Final = DRIFT_STATES[::-1]
_PICTURED: Final = 1_500
"""Records of each side of a picture; there are two for each signal of a series."""

_AROUND: Final = (timedelta(minutes=2), timedelta(hours=12))
"""The least and the most that is shown on each side of a change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftList:
    """The present verdicts on everything that is watched."""

    as_of: datetime
    evaluated_at: datetime | None
    findings: tuple[DriftFinding, ...]
    """Worst first."""
    changes: tuple[DriftChange, ...]
    """Latest changes of state, newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalDrift:
    """One signal of one series."""

    finding: DriftFinding
    reference: StoredReference | None
    spread: tuple[Distribution, Distribution] | None
    """Reference and current window; None without a stored reference."""
    course: Trend | None
    """Around the change while it is drifted, else through the current window."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesDrift:
    """Every watched signal of one series."""

    as_of: datetime
    series: Series
    signals: tuple[SignalDrift, ...]
    """Worst first."""
    changes: tuple[DriftChange, ...]


def drift_list(
    sources: Sources,
    *,
    service: str | None = None,
    model: str | None = None,
    category: str | None = None,
    state: str | None = None,
) -> DriftList:
    """Verdicts that pass the filter. Raises `UsageError` for a state that there is not."""
    if state is not None and state not in DRIFT_STATES:
        raise UsageError(f"state: {state!r} is none of {choices(DRIFT_STATES)}")
    findings = sources.drift.findings(service=service, model=model, category=category, state=state)
    lease = sources.evaluator()
    return DriftList(
        as_of=sources.clock(),
        evaluated_at=lease.evaluated_at if lease is not None else None,
        findings=tuple(sorted(findings, key=_rank)),
        changes=tuple(
            sources.drift.changes(service=service, model=model, category=category, limit=20)
        ),
    )


def series_drift(sources: Sources, series: Series) -> SeriesDrift | None:
    """One series with its distributions, or None where nothing watches it."""
    findings = sources.drift.findings(
        service=series.service, model=series.model, category=series.category
    )
    # An empty category is a series of its own, not "any".
    findings = [each for each in findings if each.series == series]
    if not findings:
        return None
    now = sources.clock()
    references = {
        (each.calibration_id, each.signal): each
        for each in sources.drift.references()
        if each.series == series
    }
    signals = []
    for finding in sorted(findings, key=_rank):
        reference = references.get((finding.calibration_id or "", finding.signal))
        signals.append(_signal(sources, finding, reference, now))
    changes = sources.drift.changes(
        service=series.service, model=series.model, category=series.category, limit=20
    )
    return SeriesDrift(
        as_of=now,
        series=series,
        signals=tuple(signals),
        changes=tuple(each for each in changes if each.series == series),
    )


def _signal(
    sources: Sources, finding: DriftFinding, reference: StoredReference | None, now: datetime
) -> SignalDrift:
    end = now + timedelta(seconds=1)
    current = Stretch(since=now - sources.drift_window, until=end)
    spread = None
    if reference is not None and reference.since is not None and reference.until is not None:
        # The stretch of a reference includes its last record.
        former = Stretch(since=reference.since, until=reference.until + timedelta(microseconds=1))
        first, second = distributions(
            sources.database,
            finding.series,
            finding.signal,
            (former, current),
            first_release=reference.release,
            limit=_PICTURED,
        )
        spread = (first, second)
    shown = current
    if finding.since is not None and finding.since < end:
        # As long before the change as after it, and near enough to see it.
        span = min(max(end - finding.since, _AROUND[0]), _AROUND[1])
        shown = Stretch(since=finding.since - span, until=min(finding.since + span, end))
    course = trend(sources.database, finding.series, finding.signal, shown, limit=_PICTURED)
    return SignalDrift(finding=finding, reference=reference, spread=spread, course=course)


def _rank(finding: DriftFinding) -> tuple[int, Series, str]:
    known = finding.state in WORST_FIRST
    place = WORST_FIRST.index(finding.state) if known else len(WORST_FIRST)
    return place, finding.series, finding.signal
