"""Which replica exports what is computed from SQL, and reading it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from monitor.errors import DatabaseUnavailable
from monitor.exporter import Sample, Snapshot
from monitor.findings import EvaluatorLease
from monitor.gauges.traffic import (
    normalizer_samples,
    queue_samples,
    sampling_samples,
    window_samples,
)
from monitor.gauges.verdicts import drift_samples, threshold_samples
from monitor.ports import Clock
from monitor.records import SamplingEpoch, Stratum
from monitor.settings import Settings
from monitor.storage.windows import window_means
from monitor.stores import Stores
from monitor.telemetry import Telemetry

LONGEST_TURN = 5
"""Times `evaluation.lease_seconds`: a last turn with findings that ended so long before the last
one of all means that no series is left."""
CLOCKS = timedelta(minutes=1)
"""By how much the clocks of a fleet may disagree."""
ALONE = timedelta(minutes=1)
"""For how long the gauges of a sidecar that nobody succeeds outlive its database."""


class Gauges:
    """Refreshes the snapshot of all gauges that are computed from SQL.

    They describe the database, not a replica, so one replica exports them: the one whose
    evaluator holds the lease. With the lease its whole snapshot goes, so nothing stays behind
    to be scraped as if it were true; also where the database cannot be asked and the lease, as it
    was last seen, has run out: another replica may have it by then.

    A sidecar whose evaluation is switched off exports them while nobody holds the lease: alone
    it would otherwise be without queue and window gauges. In a fleet that never evaluates every
    replica does so; take `max by (...)` there, not `sum`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        telemetry: Telemetry,
        stores: Stores,
        settings: Settings,
        front: str,
        epoch: Callable[[], SamplingEpoch],
        clock: Clock,
    ) -> None:
        self._snapshot = snapshot
        self._telemetry = telemetry
        self._stores = stores
        self._settings = settings
        self._front = front
        self._epoch = epoch
        self._clock = clock
        self._ends = clock()
        """Until when the snapshot may stand without being refreshed."""

    def refresh(self) -> None:
        """Compute all of them anew. Raises `DatabaseUnavailable`."""
        try:
            self._refresh()
        except DatabaseUnavailable:
            if self._clock() >= self._ends:
                self._telemetry.gauge("hss_evaluator_active", 0.0)
                self._snapshot.replace([])
            raise

    def _refresh(self) -> None:
        lease = self._stores.lease.current()
        active = lease is not None and lease.holder == self._front
        self._telemetry.gauge("hss_evaluator_active", float(active))
        alone = lease is None and not self._settings.evaluation.enabled
        samples = self._traffic() if active or alone else []
        if lease is not None and active:
            samples += self._verdicts(lease)
        self._snapshot.replace(samples)
        self._ends = self._clock() + ALONE if lease is None else lease.until

    def _traffic(self) -> list[Sample]:
        stores, labels, now = self._stores, self._telemetry.labels, self._clock()
        epoch = self._epoch()
        arrived = stores.epochs.arrivals(epoch.number)
        return [
            *queue_samples(
                stores.queue.counts(),
                oldest=stores.queue.oldest_queued_age(),
                last_scored=stores.queue.last_scored_at(),
            ),
            *window_samples(
                window_means(
                    stores.database,
                    since=now - timedelta(seconds=self._settings.windows.seconds),
                    until=now + timedelta(seconds=1),
                ),
                labels,
            ),
            *normalizer_samples(stores.calibrations.in_force(), labels),
            *sampling_samples(epoch, arrived, spent=self._spent(epoch, arrived), labels=labels),
        ]

    def _verdicts(self, lease: EvaluatorLease) -> list[Sample]:
        if lease.evaluated_at is None:
            return []
        labels = self._telemetry.labels
        longest = timedelta(seconds=LONGEST_TURN * self._settings.evaluation.lease_seconds)
        since = lease.evaluated_at - longest
        until = self._clock() + CLOCKS
        return [
            Sample(
                name="hss_evaluation_timestamp_seconds",
                labels=(),
                value=lease.evaluated_at.timestamp(),
            ),
            *drift_samples(self._stores.drift.findings(), labels, since=since, until=until),
            *threshold_samples(
                self._stores.breaches.threshold_states(),
                self._settings.thresholds,
                labels,
                since=since,
                until=until,
            ),
        ]

    def _spent(self, epoch: SamplingEpoch, arrived: Mapping[Stratum, int]) -> float | None:
        """Share of the epoch's budget that its arrivals have used; `None` without a budget."""
        per_hour = self._settings.sampling.budget.records_per_hour
        if per_hour is None:
            return None
        hours = (epoch.ends_at - epoch.starts_at) / timedelta(hours=1)
        return epoch.expected(arrived) / (per_hour * hours)
