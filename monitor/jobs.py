"""The periodic work of a front; each function is idempotent and safe to run at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from monitor.execution.local import LocalScorers
from monitor.exporter import FinishedRow, Sample, Snapshot, count_finished
from monitor.records import Calibration, RecordState, SamplingEpoch
from monitor.telemetry import Telemetry

PAGE = 500


class Finished(Protocol):
    def take_unobserved(self, front: str, limit: int = PAGE) -> Sequence[FinishedRow]: ...


class QueueState(Protocol):
    def counts(self) -> Mapping[RecordState, int]: ...
    def oldest_queued_age(self) -> float | None: ...


class WindowSignal(Protocol):
    """Weighted mean of one signal of one stratum over the window."""

    @property
    def service(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def signal(self) -> str: ...
    @property
    def mean(self) -> float: ...
    @property
    def weight(self) -> float: ...
    @property
    def records(self) -> int: ...


def supervise(scorers: LocalScorers, telemetry: Telemetry) -> None:
    """Keep the scorer processes running."""
    died = scorers.supervise()
    if died:
        telemetry.count("hss_scorer_restarts_total", by=died)
    telemetry.gauge("hss_scorers_running", scorers.running())


def count_finished_records(repository: Finished, telemetry: Telemetry, front: str) -> int:
    """Feed every record that this front took in and that is final now, exactly once."""
    counted = 0
    while rows := repository.take_unobserved(front, PAGE):
        for row in rows:
            count_finished(telemetry, row)
        counted += len(rows)
    return counted


def refresh_gauges(
    snapshot: Snapshot,
    *,
    telemetry: Telemetry,
    queue: QueueState,
    window: Callable[[], Iterable[WindowSignal]],
    last_scored: Callable[[], datetime | None],
    calibrations: Callable[[], Iterable[Calibration]],
    epoch: Callable[[], SamplingEpoch],
    spent: Callable[[SamplingEpoch], float | None],
) -> None:
    """Replace the snapshot of all gauges that are computed from SQL.

    Several strata may fold into one label set (`other`): their means are joined by the
    traffic that each stands for (Σ 1/π).
    """
    labels = telemetry.labels
    samples = [
        Sample(name="hss_queue_records", labels=(state.value,), value=number)
        for state, number in queue.counts().items()
    ]
    age = queue.oldest_queued_age()
    samples.append(Sample(name="hss_queue_age_seconds", labels=(), value=age or 0.0))
    sums: dict[tuple[str, str, str, str], tuple[float, float, int]] = {}
    for row in window():
        key = (row.signal, *labels.stratum(row.service, row.model, row.category))
        total, weight, count = sums.get(key, (0.0, 0.0, 0))
        sums[key] = (total + row.mean * row.weight, weight + row.weight, count + row.records)
    for key, (total, weight, count) in sums.items():
        samples.append(Sample(name="hss_window_mean", labels=key, value=total / weight))
        samples.append(Sample(name="hss_window_records", labels=key, value=count))
    latest = last_scored()
    if latest is not None:
        samples.append(
            Sample(name="hss_last_score_timestamp_seconds", labels=(), value=latest.timestamp())
        )
    for calibration in calibrations():
        provisional = "true" if calibration.provisional else "false"
        for entry in calibration.normalizers:
            name = "" if entry.category is None else labels.category(entry.category)
            samples.append(
                Sample(name="hss_normalizer", labels=(name, provisional), value=entry.value)
            )
    samples += _sampling(epoch(), spent, telemetry)
    snapshot.replace({(sample.name, sample.labels): sample for sample in samples}.values())


def _sampling(
    epoch: SamplingEpoch,
    spent: Callable[[SamplingEpoch], float | None],
    telemetry: Telemetry,
) -> list[Sample]:
    rates: dict[tuple[str, str, str], float] = {}
    for stratum, rate in epoch.rates.items():
        key = telemetry.labels.stratum(stratum.service, stratum.model, stratum.category)
        rates[key] = max(rate, rates.get(key, 0.0))
    samples = [
        Sample(name="hss_sampling_rate_ratio", labels=key, value=rate)
        for key, rate in rates.items()
    ]
    share = spent(epoch)
    if share is not None:
        left = max(0.0, 1.0 - share)
        samples.append(Sample(name="hss_budget_remaining_ratio", labels=(), value=left))
    return samples
