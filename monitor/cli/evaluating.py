"""What findings come from, and whether they are being made at all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from monitor.cli.output import duration
from monitor.investigate.sources import Sources
from monitor.settings import Settings
from monitor.stores import Stores, now

_LATE = 5
"""Turns of the evaluator after which its verdicts are called old."""


def sources_of(stores: Stores, settings: Settings) -> Sources:
    """What the pages read from: the terminal tells the same facts."""
    return Sources(
        database=stores.database,
        breaches=stores.breaches,
        drift=stores.drift,
        audit=stores.audit,
        evaluator=stores.lease.current,
        clock=now,
        window=timedelta(seconds=settings.windows.seconds),
        drift_window=timedelta(seconds=settings.drift.window_seconds),
    )


def evaluation_state(stores: Stores, settings: Settings) -> dict[str, Any]:
    """Who evaluates, until when without a renewal, and when it last got to the end."""
    lease = stores.lease.current()
    last = _last_finding(stores) if lease is None else lease.evaluated_at
    late = last is None or _age(last) > _LATE * settings.evaluation.seconds
    return {
        "enabled": settings.evaluation.enabled,
        "running": lease is not None and not late,
        "holder": None if lease is None else lease.holder,
        "until": None if lease is None else lease.until,
        "evaluated_at": last,
    }


def _last_finding(stores: Stores) -> datetime | None:
    """When somebody evaluated, where nobody does now."""
    times = [state.evaluated_at for state in stores.breaches.threshold_states()]
    times += [finding.evaluated_at for finding in stores.drift.findings()]
    return max(times, default=None)


def note_evaluation(stores: Stores, settings: Settings) -> str | None:
    """Why verdicts may be missing or old, for people; `None` where they are fresh."""
    found = evaluation_state(stores, settings)
    if found["running"]:
        return None
    if not found["enabled"]:
        return "evaluation.enabled is false here: another sidecar has to evaluate"
    if found["holder"] is None:
        last = found["evaluated_at"]
        before = "" if last is None else f", and nobody has for {duration(_age(last))}"
        return f"nobody evaluates at present{before}: start `hss-monitor run`"
    if found["evaluated_at"] is None:
        return f"{found['holder']} has begun to evaluate and has not finished a turn yet"
    return (
        f"the last evaluation, by {found['holder']}, ended "
        f"{duration(_age(found['evaluated_at']))} ago; see its log"
    )


def _age(moment: datetime) -> float:
    return (now() - moment).total_seconds()
