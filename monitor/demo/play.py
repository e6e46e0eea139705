"""The demo as a play in four acts: a reference, a good release, a bad one, the good one again.

Everything in it is the product: the service sends OpenTelemetry spans, the sidecar runs as
its own process with an ordinary configuration file, the calibration is the ordinary one.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev

import httpx
import yaml

from monitor.calibrating import Window
from monitor.configuration import load
from monitor.demo.configuration import demo_settings
from monitor.demo.news import news_documents
from monitor.demo.processes import Child, free_port, service, sidecar
from monitor.demo.releases import SERVICE
from monitor.demo.traffic import TrafficGenerator
from monitor.demo.watching import Watching, nothing_yet
from monitor.errors import DependencyUnavailable
from monitor.recalibrating import recalibrate
from monitor.records import RecordState
from monitor.storage.queries import MAX_PAGE, RecordRow, list_records
from monitor.stores import Stores, now, open_stores

FINAL = {RecordState.SCORED, RecordState.SKIPPED, RecordState.FAILED}
STALL_SECONDS = 240.0
"""Without any progress for so long the demo gives up and says where to look."""
POLL_SECONDS = 0.5
"""From one look at the database to the next."""
IN_FLIGHT = 4
"""Readers wait while so many records are not scored: then the windows of thresholds hold what
was just asked, on a slow machine, too."""
VERDICT_SECONDS = 20.0
"""How long the last records of an act may take to show in a verdict."""
LONGEST_ARTICLE = 140
"""Words: shorter articles are reworded, summarized and explained in less of the audience's time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """One stretch of traffic under one release."""

    name: str
    release: str
    calls: int
    until: Callable[[Watching], bool] | None = None
    """Readers go on until this holds …"""
    most: int = 0
    """… or so many calls were made."""


ACTS = (
    Act(name="reference", release="good", calls=36),
    Act(name="good", release="good", calls=20),
    Act(name="bad", release="bad", calls=24, until=lambda seen: seen.found, most=40),
    Act(name="recovered", release="good", calls=16, until=lambda seen: seen.calm, most=48),
)


@dataclass(slots=True)
class Scene:
    """What the audience sees."""

    act: str = "starting"
    calls: int = 0
    records: dict[str, list[RecordRow]] = field(default_factory=dict)
    """Records by act, in all states."""
    calibration: str | None = None
    watching: Watching = field(default_factory=nothing_yet)

    def states(self) -> dict[RecordState, int]:
        rows = [row for act in self.records.values() for row in act]
        return {state: sum(row.state is state for row in rows) for state in RecordState}

    def estimate(self, act: str, signal: str) -> Estimate:
        """Of a number of the records of an act."""
        return estimate([getattr(row, signal) for row in self.records.get(act, [])])


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Mean over records with its 95 % Student's t interval."""

    mean: float | None
    interval: tuple[float, float] | None
    records: int


def estimate(values: Sequence[float | None]) -> Estimate:
    """Mean of the known values; the interval needs two, and is not clipped.

    >>> estimate([0.2, 0.4, None]).mean
    0.30000000000000004
    """
    # SciPy is of no use before the last act.
    from scipy.special import stdtrit

    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Estimate(mean=known[0] if known else None, interval=None, records=len(known))
    mean = fmean(known)
    half = float(stdtrit(len(known) - 1, 0.975)) * stdev(known) / math.sqrt(len(known))
    return Estimate(mean=mean, interval=(mean - half, mean + half), records=len(known))


def _over(act: Act, watching: Watching) -> bool:
    return act.until is None or act.until(watching)


def articles() -> list[str]:
    """What the readers of the demo ask to be summarized."""
    return [text for text in news_documents() if len(text.split()) <= LONGEST_ARTICLE]


class Play:
    """Runs the acts. `show` is called twice a second with the scene."""

    def __init__(self, folder: Path, *, port: int, show: Callable[[Scene], None]) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.scene = Scene()
        self._show = show
        self._port = port
        self._children: list[Child] = []
        """Service and sidecar, in the order in which they end."""
        self._acts: dict[str, str] = {}
        self._counted: dict[str, float] = {}
        self._last_metrics: dict[str, float] = {}

    def run(self, acts: Sequence[Act] = ACTS) -> None:
        """Start service and sidecar, play all acts, and leave both running."""
        self.folder.mkdir(parents=True, exist_ok=True)
        service_port = free_port()
        config = self.folder / "hss-monitor.yaml"
        scorers = max(1, min(2, os.cpu_count() or 1))
        values = demo_settings(
            self.folder.resolve(), port=self._port, service_port=service_port, scorers=scorers
        )
        config.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        self.settings = load(config)
        self._children = [
            # First, so that it can still send its last spans.
            service(service_port, self.url, folder=self.folder, env=env),
            sidecar(self._port, config, folder=self.folder, env=env),
        ]
        for child in reversed(self._children):
            child.start()
        with (
            open_stores(self.settings) as stores,
            TrafficGenerator(f"http://127.0.0.1:{service_port}", articles()) as traffic,
        ):
            for act in acts:
                self._play(act, traffic, stores, service_port)
                if act.name == "reference":
                    self._calibrate(stores)

    def _play(self, act: Act, traffic: TrafficGenerator, stores: Stores, port: int) -> None:
        self.scene.act = act.name
        httpx.post(
            f"http://127.0.0.1:{port}/release", json={"release": act.release}, trust_env=False
        ).raise_for_status()
        calls = 0
        while calls < act.calls or (calls < act.most and not _over(act, self.scene.watching)):
            self._ask(act, traffic)
            calls += 1
            self._until(stores, lambda: self._waiting(stores) < IN_FLIGHT)
        self._until(stores, self._done)
        self._verdict(act, stores)

    def _ask(self, act: Act, traffic: TrafficGenerator) -> None:
        (result,) = traffic.send(1)
        if result.summary is None:
            raise DependencyUnavailable(
                f"demo: the service answered {result.status}; "
                f"{self.folder / 'service.log'} says why"
            )
        self._acts[result.trace_id] = act.name
        self.scene.calls = traffic.calls

    def _waiting(self, stores: Stores) -> int:
        """Calls that are no scored record yet; spans arrive a moment after their call."""
        counts = stores.queue.counts()
        return self.scene.calls - sum(counts.get(state, 0) for state in FINAL)

    def _done(self) -> bool:
        rows = [row for act in self.scene.records.values() for row in act]
        return len(rows) >= self.scene.calls and all(row.state in FINAL for row in rows)

    def _verdict(self, act: Act, stores: Stores) -> None:
        """Give the evaluator time for the last records, where something is expected of it."""
        deadline = time.monotonic() + VERDICT_SECONDS
        self._until(stores, lambda: _over(act, self.scene.watching) or time.monotonic() > deadline)

    def _until(self, stores: Stores, reached: Callable[[], bool]) -> None:
        """Look on, twice a second, until something is reached."""
        moved = time.monotonic()
        last: object = None
        while True:
            self._look(stores)
            if reached():
                return
            progress = stores.queue.counts()
            if progress != last:
                last, moved = progress, time.monotonic()
            if time.monotonic() - moved > STALL_SECONDS:
                raise DependencyUnavailable(
                    f"demo: nothing was scored for {STALL_SECONDS:.0f} s "
                    f"({self._waiting(stores)} of {self.scene.calls} wait); "
                    f"{self.folder / 'sidecar.log'} says why"
                )
            time.sleep(POLL_SECONDS)

    def _look(self, stores: Stores) -> None:
        self.scene.records = self._records(stores)
        self.scene.watching.look(stores)
        self._show(self.scene)
        _, beside = self._children
        if beside.keep_running():
            self._counted = self.counted()
            self._last_metrics = {}
        self._read_metrics()

    def _calibrate(self, stores: Stores) -> None:
        window = Window(name="demo reference", until=now(), service=SERVICE)
        self.scene.calibration = recalibrate(stores, window, self.settings).calibration.id

    def _records(self, stores: Stores) -> dict[str, list[RecordRow]]:
        found: dict[str, list[RecordRow]] = {}
        after: str | None = None
        while True:
            page = list_records(stores.database, limit=MAX_PAGE, after=after)
            for row in page.rows:
                act = self._acts.get(row.trace_id or "")
                if act is not None:
                    found.setdefault(act, []).append(row)
            after = page.next
            if after is None:
                return found

    def _read_metrics(self) -> None:
        """Counters begin anew with a process; what earlier ones counted is kept."""
        try:
            text = httpx.get(f"{self.url}/metrics", timeout=5.0, trust_env=False).text
        except httpx.HTTPError:
            return  # the next look reads them again
        sums: dict[str, float] = {}
        for line in text.splitlines():
            if line.startswith("hss_") and "_total" in line:
                name, _, value = line.rpartition(" ")
                name = name.partition("{")[0]
                sums[name] = sums.get(name, 0.0) + float(value)
        self._last_metrics = sums

    def counted(self) -> dict[str, float]:
        """Sums of the sidecar's counters over all its lives in this play."""
        names = {*self._counted, *self._last_metrics}
        return {
            name: self._counted.get(name, 0.0) + self._last_metrics.get(name, 0.0) for name in names
        }

    def children(self) -> list[Child]:
        """The service and the sidecar, for whoever keeps watch after the last act."""
        return list(self._children)

    def stop(self) -> None:
        """End both, as far as they were started."""
        for child in self._children:
            child.stop()
