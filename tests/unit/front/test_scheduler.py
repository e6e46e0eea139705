"""Periodic work goes on whatever is done to the wall clock."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from monitor import scheduler as scheduler_module
from monitor.scheduler import Job, background


def test_jobs_go_on_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gauges, counters, supervision and scoring would otherwise sleep until it has caught up."""
    monkeypatch.setattr(scheduler_module, "WATCH_SECONDS", 0.02)
    ran, set_back = threading.Semaphore(0), 0.0
    running = background(
        [Job(name="tick", seconds=0.05, run=ran.release)],
        count=lambda job, outcome: None,
        wall=lambda: time.monotonic() - set_back,
        monotonic=time.monotonic,
    )
    running.start()
    try:
        assert ran.acquire(timeout=5)
        # What a clock that was set back leaves behind: a turn that seems to be an hour away.
        [job] = running._scheduler.get_jobs()  # type: ignore[attr-defined]
        job.modify(next_run_time=datetime.now(UTC) + timedelta(hours=1))
        while ran.acquire(timeout=0.3):
            pass
        set_back = 3600.0
        assert ran.acquire(timeout=5)
        assert ran.acquire(timeout=5), "and at its usual pace again"
    finally:
        running.shutdown()
