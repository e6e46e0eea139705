"""Whether findings are being made at all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.durations import duration
from monitor.settings import Settings
from monitor.stores import Stores, now

_LATE = 5
"""Turns of the evaluator after which its verdicts are called old."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationState:
    """Whether somebody judges drift and thresholds; printed as JSON by `doctor`."""

    enabled: bool
    """`evaluation.enabled` of this configuration."""
    running: bool
    """Somebody holds the lease, and its last turn ended not long ago."""
    holder: str | None
    """The front whose evaluator it is."""
    until: datetime | None
    """End of its lease, unless it is renewed."""
    evaluated_at: datetime | None
    """When a turn last got to the end."""


def evaluation_state(stores: Stores, settings: Settings) -> EvaluationState:
    """Who evaluates, until when without a renewal, and when it last got to the end."""
    lease = stores.lease.current()
    last = _last_finding(stores) if lease is None else lease.evaluated_at
    late = last is None or _age(last) > _LATE * settings.evaluation.seconds
    return EvaluationState(
        enabled=settings.evaluation.enabled,
        running=lease is not None and not late,
        holder=None if lease is None else lease.holder,
        until=None if lease is None else lease.until,
        evaluated_at=last,
    )


def _last_finding(stores: Stores) -> datetime | None:
    """When somebody evaluated, where nobody does now."""
    times = [state.evaluated_at for state in stores.breaches.threshold_states()]
    times += [finding.evaluated_at for finding in stores.drift.findings()]
    return max(times, default=None)


def note_evaluation(stores: Stores, settings: Settings) -> str | None:
    """Why verdicts may be missing or old, for people; `None` where they are fresh."""
    found = evaluation_state(stores, settings)
    if found.running:
        return None
    if not found.enabled:
        return "evaluation.enabled is false here: another sidecar has to evaluate"
    last = found.evaluated_at
    if found.holder is None:
        before = "" if last is None else f", and nobody has for {duration(_age(last))}"
        return f"nobody evaluates at present{before}: start `hss-monitor run`"
    if last is None:
        return f"{found.holder} has begun to evaluate and has not finished a turn yet"
    return f"the last evaluation, by {found.holder}, ended {duration(_age(last))} ago; see its log"


def _age(moment: datetime) -> float:
    return (now() - moment).total_seconds()
