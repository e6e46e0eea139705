"""What drifted while a breach was open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from monitor.findings import BreachRow, DriftChange, DriftFinding
from monitor.investigate.breach_stretches import before
from monitor.investigate.sources import Sources

_DRIFTED: Final = "drifted"
_CHANGES: Final = 200
"""Newest changes of the series since the breach that are looked through."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedDrift:
    """A signal of the series that drifted while the breach was open, and does so no longer."""

    signal: str
    since: datetime | None
    """Estimated time of the change; None where it was raised long before the breach."""
    raised_at: datetime | None
    over_since: datetime


def drift_in(
    sources: Sources, breach: BreachRow
) -> tuple[tuple[DriftFinding, ...], tuple[EndedDrift, ...]]:
    """What the detector says now about the series, and what was over since; of a breach that
    was resolved, nothing that began later."""
    series = breach.series
    findings = sources.drift.findings(
        service=series.service, model=series.model, category=series.category
    )
    present = tuple(each for each in findings if _belongs(each, breach.resolved_at))
    changes = sources.drift.changes(
        since=before(breach).since,
        service=series.service,
        model=series.model,
        category=series.category,
        limit=_CHANGES,
    )
    shown = {each.signal for each in present}
    ended = ended_drift(changes, since=breach.exceeded_since, until=breach.resolved_at)
    return present, tuple(each for each in ended if each.signal not in shown)


def ended_drift(
    changes: Sequence[DriftChange], *, since: datetime, until: datetime | None
) -> list[EndedDrift]:
    """Drift that was over at or after `since` and had begun by `until`, by signal; of several
    of one signal the last. `changes` are of one series, newest first."""
    raised: dict[str, DriftChange] = {}
    found: dict[str, EndedDrift] = {}
    for change in reversed(changes):
        if change.after == _DRIFTED:
            raised[change.signal] = change
        elif change.before == _DRIFTED:
            start = raised.pop(change.signal, None)
            began = None if start is None else start.since or start.at
            if change.at >= since and (began is None or until is None or began <= until):
                found[change.signal] = EndedDrift(
                    signal=change.signal,
                    since=None if start is None else start.since,
                    raised_at=None if start is None else start.at,
                    over_since=change.at,
                )
    return [found[signal] for signal in sorted(found)]


def _belongs(finding: DriftFinding, resolved_at: datetime | None) -> bool:
    if resolved_at is None:
        return finding.state in {_DRIFTED, "suspect"}
    began = finding.since or finding.raised_at
    return finding.state == _DRIFTED and began is not None and began <= resolved_at
