"""The periodic work of a front; each function is idempotent and safe to run at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from monitor.execution.local import LocalProcesses
from monitor.exporter import count_finished
from monitor.records import FinishedRecord
from monitor.telemetry import Telemetry

PAGE = 500


class Finished(Protocol):
    """Records that are final and were not counted yet."""

    def take_unobserved(self, front: str, limit: int = PAGE) -> Sequence[FinishedRecord]:
        """Those of a front, at most `limit`; each is returned once in its life."""


def supervise(scorers: LocalProcesses, telemetry: Telemetry) -> None:
    """Keep the scorer processes running."""
    died = scorers.supervise()
    if died:
        telemetry.count("hss_scorer_restarts_total", by=died)
    telemetry.gauge("hss_scorers_running", scorers.running())


def count_finished_records(
    repository: Finished,
    telemetry: Telemetry,
    front: str,
    *,
    also: Callable[[FinishedRecord], None],
) -> int:
    """Feed every record that this front took in and that is final now, exactly once.

    `also` takes each of them, too.
    """
    counted = 0
    while rows := repository.take_unobserved(front, PAGE):
        for row in rows:
            count_finished(telemetry, row)
            also(row)
        counted += len(rows)
    return counted
