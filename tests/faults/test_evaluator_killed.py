"""The product's own evaluators, three on one database, and kill -9 of the one that judges."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.calibrating import Window
from monitor.configuration import load
from monitor.drift_references import fit_references
from monitor.records import (
    Calibration,
    IncomingRecord,
    RecordState,
    SampledRecord,
    SamplingDecision,
    ScoredRecord,
    Stratum,
    Support,
)
from monitor.storage.breach_list import BreachFilter
from monitor.stores import Stores, now, open_stores

LEASE_SECONDS = 3.0
MACHINE_SECONDS = 9.0
"""What a busy machine may add."""
START_SECONDS = 60.0
REFERENCE, LIVE = 60, 40


@dataclass
class Fleet:
    """Evaluators in processes of their own, by the name of the front they work for."""

    config: Path
    processes: dict[str, subprocess.Popen[bytes]]

    def kill(self, name: str) -> float:
        os.kill(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].wait()
        return time.monotonic()


@pytest.fixture
def stores(database_url: str, tmp_path: Path) -> Iterator[Stores]:
    values: dict[str, Any] = {
        "database": {"url": database_url},
        "storage": {"hash_key_file": str(tmp_path / "key")},
        "evaluation": {"seconds": 0.5, "lease_seconds": LEASE_SECONDS},
        "drift": {
            "signals": ["entity_support"],
            "min_reference_records": 50,
            "cycle_hours": 0.001,
            "permutations": 99,
        },
        "thresholds": [
            {
                "name": "support",
                "signal": "entity_support",
                "comparison": "below",
                "limit": {"value": 0.7},
                "min_records": 10,
                "hold_seconds": 0,
            }
        ],
    }
    (tmp_path / "hss.yaml").write_text(yaml.safe_dump(values))
    with open_stores(load(tmp_path / "hss.yaml")) as opened:
        yield opened


@pytest.fixture
def fleet(stores: Stores, tmp_path: Path) -> Iterator[Fleet]:
    config = tmp_path / "hss.yaml"
    command = [sys.executable, "-m", "monitor", "evaluator", "--config", str(config), "--front"]
    with (tmp_path / "log").open("wb") as log:
        made = Fleet(
            config=config,
            processes={
                name: subprocess.Popen([*command, name], stdin=subprocess.DEVNULL, stderr=log)
                for name in ("front-1", "front-2", "front-3")
            },
        )
        try:
            yield made
        finally:
            for process in made.processes.values():
                process.kill()
                process.wait()


def _score(stores: Stores, first: int, count: int, *, since: datetime, support: float) -> None:
    """Records a second apart with this entity support, give or take a little."""
    for number in range(first, first + count):
        record = IncomingRecord(
            id=f"r{number:03d}",
            document="d",
            summary="s",
            service="news",
            model="m",
            received_at=since + timedelta(seconds=number),
            category="general",
        )
        decision = SamplingDecision(
            sampled=True,
            stratum=Stratum(service="news", model="m", category="general"),
            probability=1.0,
            epoch=1,
        )
        stores.queue.accept([SampledRecord(record=record, decision=decision, front="f")])
        (item,) = stores.queue.lease("test", count=1, seconds=60)
        stores.queue.finish(
            item.lease,
            ScoredRecord(
                record_id=record.id,
                state=RecordState.SCORED,
                reason=None,
                detail="",
                category="general",
                scored_at=now(),
                fingerprint="fp",
                support=Support(
                    entity_support=support + (number % 5) / 100,
                    entity_reason=None,
                    number_support=1.0,
                    number_reason=None,
                    unsupported=(),
                    entities=2,
                    numbers=1,
                ),
            ),
        )


def _calibrate(stores: Stores, fleet: Fleet) -> None:
    calibration = Calibration(
        id="cal-1",
        fingerprint="fp",
        settings={},
        created_at=now(),
        window="reference",
        since=None,
        until=now(),
        provisional=False,
        normalizers=(),
    )
    window = Window(name="reference", until=calibration.until)
    stores.calibrations.add(calibration, activate=False)
    stores.drift.save_references(
        fit_references(stores, calibration, window, load(fleet.config).drift)
    )
    stores.calibrations.activate(calibration.id)


def _wait(condition: Callable[[], Any], *, seconds: float = START_SECONDS) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return found


def test_another_evaluator_takes_over_and_nothing_happens_twice(
    stores: Stores, fleet: Fleet
) -> None:
    """One page, whoever judges; the detector goes on behind the last record that it took in."""
    began = now() - timedelta(minutes=5)
    _score(stores, 0, REFERENCE, since=began, support=0.9)
    _calibrate(stores, fleet)
    _score(stores, REFERENCE, LIVE, since=began, support=0.1)
    holders = []
    for round_ in range(2):
        lease = _wait(stores.lease.current)
        holders.append(lease.holder)
        _wait(lambda: stores.drift.findings(state="drifted"))
        _wait(lambda: stores.breaches.list_breaches(BreachFilter(state="open")).rows)
        killed_at = fleet.kill(lease.holder)
        following = _wait(
            lambda lease=lease: (
                (current := stores.lease.current()) is not None
                and current.holder != lease.holder
                and current
            )
        )
        assert time.monotonic() - killed_at < LEASE_SECONDS + MACHINE_SECONDS
        at = now()
        _wait(
            lambda at=at: (
                (current := stores.lease.current()) is not None
                and current.evaluated_at is not None
                and current.evaluated_at > at
            )
        )
        assert following.token == lease.token + 1, round_

    assert len({*holders, following.holder}) == 3
    [breach] = stores.breaches.list_breaches().rows
    assert (breach.number, breach.state) == (1, "open")
    changes = [(change.before, change.after) for change in stores.drift.changes()]
    assert changes.count(("insufficient", "drifted")) == 1
    [state] = stores.drift.watch_states()
    tail = len(state.state["tail"])
    assert state.state["evidence"]["records"] + tail == LIVE, "each record once"
