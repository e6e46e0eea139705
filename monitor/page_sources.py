"""What pages, API and commands read from, as the configuration has it."""

from __future__ import annotations

from datetime import timedelta

from monitor.breaches.configured import threshold_of
from monitor.investigate.sources import Sources
from monitor.settings import Settings
from monitor.stores import Stores, now


def sources_of(stores: Stores, settings: Settings) -> Sources:
    """One for the sidecar and the terminal, so that both tell the same facts."""
    return Sources(
        database=stores.database,
        breaches=stores.breaches,
        drift=stores.drift,
        audit=stores.audit,
        evaluator=stores.lease.current,
        clock=now,
        window=timedelta(seconds=settings.windows.seconds),
        drift_window=timedelta(seconds=settings.drift.window_seconds),
        thresholds={each.name: threshold_of(each) for each in settings.thresholds},
    )
