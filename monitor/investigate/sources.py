"""What pages and the API read from; handed in by the front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from monitor.breaches.thresholds import Threshold
from monitor.findings import EvaluatorLease
from monitor.ports import Clock
from monitor.storage.audit import SqlTextAudit
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Where facts come from."""

    database: Database
    breaches: SqlBreachStore
    drift: SqlDriftStore
    audit: SqlTextAudit
    evaluator: Callable[[], EvaluatorLease | None]
    """Who judges at present."""
    clock: Clock
    window: timedelta
    """`windows.seconds`: what means are taken over."""
    drift_window: timedelta
    """`drift.window_seconds`: what is compared with a reference."""
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    """By name, as they are configured now."""
