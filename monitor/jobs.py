"""The periodic work of a front; each function is idempotent and safe to run at any time."""

from __future__ import annotations

from collections.abc import Callable

from monitor.execution.local import LocalProcesses
from monitor.exporter import count_finished
from monitor.records import FinishedRecord
from monitor.storage.repository import Repository
from monitor.telemetry import Telemetry


def supervise(scorers: LocalProcesses, telemetry: Telemetry) -> None:
    """Keep the scorer processes running."""
    died = scorers.supervise()
    if died:
        telemetry.count("hss_scorer_restarts_total", by=died)
    telemetry.gauge("hss_scorers_running", scorers.running())


def count_finished_records(
    repository: Repository,
    telemetry: Telemetry,
    front: str,
    *,
    also: Callable[[FinishedRecord], None],
) -> None:
    """Feed every record that this front took in and that is final now, exactly once.

    `also` takes each of them, too.
    """
    while rows := repository.take_unobserved(front):
        for row in rows:
            count_finished(telemetry, row)
            also(row)
