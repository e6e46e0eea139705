"""Periodic work, with APScheduler: each job coalesces, never overlaps itself and never dies.

A job that raises is logged and counted, and runs again at its next turn. APScheduler goes by the
wall clock: set back by an hour, it would sleep through that hour. So the wall clock is watched
against one that nobody sets, and when it goes back all jobs begin anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.base import BaseScheduler

from monitor.logs import failure

log = structlog.get_logger(__name__)

WATCH_SECONDS = 1.0
SET_BACK = 1.0
"""Seconds that the wall clock may lose between two looks: less delays no job for longer."""


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


class _Watched:
    """A scheduler and the thread that watches its clock."""

    def __init__(
        self,
        scheduler: Any,  # APScheduler 3 ships no types
        *,
        wall: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        self._scheduler = scheduler
        self._wall = wall
        self._monotonic = monotonic
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="clock", daemon=True)

    def start(self) -> None:
        self._scheduler.start()
        self._thread.start()

    def shutdown(self, wait: bool = True) -> None:
        self._stopped.set()
        self._scheduler.shutdown(wait)

    def _ahead(self) -> float:
        return self._wall() - self._monotonic()

    def _watch(self) -> None:
        before = self._ahead()
        while not self._stopped.wait(WATCH_SECONDS):
            ahead = self._ahead()
            lost, before = before - ahead, ahead
            if lost > SET_BACK:
                log.warning("clock_set_back", seconds=round(lost, 1))
                for job in self._scheduler.get_jobs():
                    job.modify(next_run_time=datetime.now(UTC))


def _with_jobs(
    scheduler: BaseScheduler, jobs: Sequence[Job], count: Callable[[str, str], None]
) -> None:
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


def background(
    jobs: Sequence[Job],
    *,
    count: Callable[[str, str], None],
    wall: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Running:
    """A scheduler whose jobs run in threads beside the caller, each job in one at a time.

    `count(job, outcome)` is called after each run with `done` or `failed`.
    """
    scheduler = BackgroundScheduler(
        timezone="UTC", executors={"default": ThreadPoolExecutor(max(1, len(jobs)))}
    )
    _with_jobs(scheduler, jobs, count)
    return _Watched(scheduler, wall=wall, monotonic=monotonic)
