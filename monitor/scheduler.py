"""Periodic work, with APScheduler: each job coalesces, never overlaps itself and never dies.

A job that raises is logged and counted, and runs again at its next turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.base import BaseScheduler

from monitor.logs import failure

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One piece of periodic work; it must be safe to run again at any time."""

    name: str
    seconds: float
    run: Callable[[], object]


class Running(Protocol):
    """What a composition root does with a scheduler."""

    def start(self) -> None:
        """Run the jobs beside the caller."""

    def shutdown(self, wait: bool = True) -> None:
        """Begin no further run; with `wait`, return when the runs under way have ended."""


def _guarded(job: Job, count: Callable[[str, str], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            job.run()
        except Exception as error:  # a job must outlive whatever one turn of it runs into
            log.error("job_failed", job=job.name, **failure(error))
            count(job.name, "failed")
        else:
            count(job.name, "done")

    return run


def _with_jobs(
    scheduler: BaseScheduler, jobs: Sequence[Job], count: Callable[[str, str], None]
) -> Running:
    for job in jobs:
        scheduler.add_job(
            _guarded(job, count),
            "interval",
            seconds=job.seconds,
            id=job.name,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
    running: Running = scheduler  # APScheduler 3 ships no types
    return running


def background(jobs: Sequence[Job], *, count: Callable[[str, str], None]) -> Running:
    """A scheduler whose jobs run in threads beside the caller, each job in one at a time.

    `count(job, outcome)` is called after each run with `done` or `failed`.
    """
    scheduler = BackgroundScheduler(
        timezone="UTC", executors={"default": ThreadPoolExecutor(max(1, len(jobs)))}
    )
    return _with_jobs(scheduler, jobs, count)
