"""Three evaluators on one database, and kill -9 of the one whose turn it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from monitor.findings import Series
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.engine import Database

LEASE_SECONDS = 2.0
MACHINE_SECONDS = 5.0
"""For polling and a busy machine; the lease is what is promised."""
EVALUATOR = """
import sys, time
from datetime import UTC, datetime
import structlog
from monitor.errors import LeaseLost
from monitor.findings import BreachDetail, BreachRow, Series, ThresholdState
from monitor.storage.breach_store import SqlBreachStore, breach_id
from monitor.storage.engine import connect
from monitor.storage.lease import SqlEvaluatorLease

structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
url, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
clock = lambda: datetime.now(UTC)
database = connect(url)
leases, store = SqlEvaluatorLease(database, clock=clock), SqlBreachStore(database, clock=clock)
series = Series(service="s", model="m", category="")

def say(*words):
    # One write each: lines of a process that is killed are whole.
    sys.stdout.write(" ".join(map(str, (time.monotonic(), name, *words))) + chr(10))
    sys.stdout.flush()

say("ready")
while True:
    lease = leases.acquire(name, seconds=seconds)
    if lease is None:
        time.sleep(0.1)
        continue
    say("acquired", lease.token)
    time.sleep(0.3)
    state = next(iter(store.threshold_states()), None)
    number = 0 if state is None else state.number
    now = clock()
    breaches = []
    if number == 0:
        # The threshold is exceeded from the beginning, and for good.
        row = BreachRow(
            id=breach_id("t", series, 1), threshold="t", series=series, number=1, signal="hss",
            statistic="mean", comparison="above", severity="page", state="open",
            exceeded_since=now, opened_at=now, resolved_at=None, value=1.0, worst=1.0, limit=0.5,
            window_seconds=60.0, records=1, acknowledged_at=None, acknowledged_by=None, note=None)
        breaches.append(BreachDetail(breach=row, contributors=()))
    after = ThresholdState(
        threshold="t", series=series, state="open", number=1, value=1.0, limit=0.5, level=None,
        records=1, reason=None, evaluated_at=now, stored={})
    try:
        store.save(lease, states=[after], breaches=breaches)
        leases.complete(lease)
    except LeaseLost:
        say("lost", lease.token)
        continue
    if breaches:
        say("opened", lease.token)
    say("evaluated", lease.token)
"""


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one evaluator said; times of the processes of one machine are comparable."""

    at: float
    name: str
    said: str
    token: int


class Fleet:
    """Evaluators in processes of their own, and everything that they say."""

    def __init__(self, url: str, size: int) -> None:
        self.lines: list[Line] = []
        self.processes = {
            f"front-{number}": subprocess.Popen(
                [sys.executable, "-c", EVALUATOR, url, f"front-{number}", str(LEASE_SECONDS)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for number in range(size)
        }
        self._readers = [
            threading.Thread(target=self._read, args=(process,))
            for process in self.processes.values()
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                at, name, said, *rest = line.split()
                token = int(rest[0]) if rest else 0
                self.lines.append(Line(at=float(at), name=name, said=said, token=token))

    def wait_for(self, said: str, *, count: int = 1, token: int = 0) -> Line:
        """The line with which `count` of this kind, of this token or a later one, are there."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = [line for line in self.lines if line.said == said and line.token >= token]
            if len(found) >= count:
                return found[-1]
            time.sleep(0.02)
        raise AssertionError(f"no {said!r} of token {token} in 30 s: {self.lines[-20:]}")

    def kill(self, name: str) -> float:
        os.kill(self.processes[name].pid, signal.SIGKILL)
        return time.monotonic()

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        for reader in self._readers:
            reader.join()


@pytest.fixture
def fleet(database_url: str) -> Iterator[Fleet]:
    made = Fleet(database_url, 3)
    try:
        yield made
    finally:
        made.end()


def test_one_evaluates_until_it_is_killed_and_then_another(
    fleet: Fleet, database: Database
) -> None:
    """Exactly one at any time, within a lease after the end of one the next, and one page."""
    fleet.wait_for("ready", count=3)
    first = fleet.wait_for("evaluated", count=5)
    killed_at = fleet.kill(first.name)
    second = fleet.wait_for("acquired", token=first.token + 1)
    assert second.at - killed_at < LEASE_SECONDS + MACHINE_SECONDS
    fleet.kill(second.name)
    third = fleet.wait_for("evaluated", token=second.token + 1, count=5)
    fleet.end()

    assert len({first.name, second.name, third.name}) == 3
    turns = sorted((line.token, line.at, line.name) for line in fleet.lines if line.token)
    assert [at for _, at, _ in turns] == sorted(at for _, at, _ in turns)
    assert len({(token, name) for token, _, name in turns}) == 3
    assert [line.said for line in fleet.lines].count("opened") == 1
    store = SqlBreachStore(database, clock=lambda: datetime.now(UTC))
    [breach] = store.list_breaches().rows
    assert (breach.number, breach.state) == (1, "open")
    assert store.open_series() == {Series(service="s", model="m", category="")}


def test_a_frozen_evaluator_writes_nothing_after_its_turn(fleet: Fleet, database: Database) -> None:
    """It wakes up in the middle of an evaluation, with a lease that is another's by then."""
    fleet.wait_for("ready", count=3)
    fleet.wait_for("evaluated")
    turns = [line for line in fleet.lines if line.said == "acquired"]
    first = fleet.wait_for("acquired", count=len(turns) + 1)
    os.kill(fleet.processes[first.name].pid, signal.SIGSTOP)
    stopped_at = time.monotonic()
    second = fleet.wait_for("acquired", token=first.token + 1)
    assert second.name != first.name
    assert second.at - stopped_at < LEASE_SECONDS + MACHINE_SECONDS
    os.kill(fleet.processes[first.name].pid, signal.SIGCONT)
    fleet.wait_for("lost", token=first.token)
    fleet.wait_for("evaluated", token=second.token, count=5)
    fleet.end()

    woken = [line for line in fleet.lines if line.name == first.name and line.at > second.at]
    assert [(line.said, line.token) for line in woken] == [("lost", first.token)]
    assert [line.said for line in fleet.lines].count("opened") == 1
