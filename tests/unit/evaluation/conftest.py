"""A little world for the evaluator: records, stores and a lease in memory, and a clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from monitor.drift.fitting import fit_reference
from monitor.drift.reference import Reference
from monitor.drift.signals import SIGNALS
from monitor.errors import LeaseLost
from monitor.evaluation.drifting import DriftJudge
from monitor.evaluation.limits import Limits
from monitor.evaluation.references import References
from monitor.evaluation.thresholds import ThresholdJudge
from monitor.evaluation.turn import Evaluator, Judges
from monitor.evaluation.windows import Windows
from monitor.findings import (
    BreachDetail,
    Cursor,
    EvaluatorLease,
    Series,
    SignalSample,
    StoredReference,
)
from monitor.records import Calibration
from monitor.settings import Settings

START = datetime(2026, 3, 1, tzinfo=UTC)
SERIES = Series(service="news", model="m1", category="general")


@dataclass
class Record:
    at: datetime
    id: str
    values: dict[str, float]
    series: Series = SERIES
    probability: float = 1.0
    final: bool = True
    share: float = 0.15


@dataclass
class Samples:
    """`evaluation.ports.Samples` over a list."""

    records: list[Record] = field(default_factory=list)
    reads: int = 0

    def series(self, *, since: datetime, limit: int) -> list[tuple[Series, int]]:
        counts: dict[Series, int] = {}
        for record in self.records:
            if record.final and record.at >= since:
                counts[record.series] = counts.get(record.series, 0) + 1
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]

    def finished_until(self, series: Series, *, now: datetime) -> datetime:
        open_ = [r.at for r in self.records if r.series == series and not r.final]
        return min([*open_, now])

    def sample(
        self,
        series: Series,
        signal: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
        calibration: Calibration | None = None,
    ) -> SignalSample:
        self.reads += 1
        found = sorted(
            (
                r
                for r in self.records
                if r.series == series
                and r.final
                and signal in r.values
                and (since is None or r.at >= since)
                and (until is None or r.at < until)
                and (after is None or (r.at, r.id) > (after.received_at, after.record_id))
            ),
            key=lambda r: (r.at, r.id),
        )[:limit]
        return SignalSample(
            ids=tuple(r.id for r in found),
            times=np.array([r.at.timestamp() for r in found], dtype=float),
            values=np.array([r.values[signal] for r in found], dtype=float),
            probabilities=np.array([r.probability for r in found], dtype=float),
            traces=tuple(r.id for r in found),
            shares=np.array([r.share for r in found], dtype=float),
            releases=("v1",) * len(found),
        )

    def reference(
        self, series: Series, signal: str, calibration: Calibration, *, until: datetime
    ) -> SignalSample:
        assert calibration.until is not None
        end = min(until + timedelta(microseconds=1), calibration.until)
        return self.sample(series, signal, since=calibration.since, until=end)

    def minutes_unscored(self, series: Series, *, now: datetime) -> float | None:
        mine = [r for r in self.records if r.series == series]
        waiting = [r.at for r in mine if not r.final]
        if not mine:
            return None
        return (now - min(waiting)).total_seconds() / 60 if waiting else 0.0


class Lease:
    """One row, as the database has it."""

    def __init__(self, clock: SimpleNamespace) -> None:
        self.clock = clock
        self.row: EvaluatorLease | None = None

    def acquire(self, holder: str, *, seconds: float) -> EvaluatorLease | None:
        now, row = self.clock.now, self.row
        if row is not None and row.holder != holder and row.until > now:
            return None
        token = 1 if row is None else row.token + (row.holder != holder)
        evaluated = None if row is None else row.evaluated_at
        self.row = EvaluatorLease(
            holder=holder,
            token=token,
            until=now + timedelta(seconds=seconds),
            evaluated_at=evaluated,
        )
        return self.row

    def complete(self, lease: EvaluatorLease) -> None:
        self.require(lease)
        assert self.row is not None
        self.row = replace(self.row, evaluated_at=self.clock.now)

    def release(self, lease: EvaluatorLease) -> None:
        assert self.row is not None
        self.row = replace(self.row, until=self.clock.now)

    def require(self, lease: EvaluatorLease) -> None:
        if self.row is None or self.row.token != lease.token:
            raise LeaseLost


class DriftStore:
    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.stored: list[StoredReference] = []
        self.states = {}
        self.found = {}
        self.changed = []

    def references(self, calibration_id: str | None = None) -> list[StoredReference]:
        return list(self.stored)

    def watch_states(self):
        return list(self.states.values())

    def findings(self):
        return list(self.found.values())

    def save(self, lease, *, states, findings, changes) -> None:
        self.lease.require(lease)
        for state in states:
            kept = replace(state, state=json.loads(json.dumps(state.state)))
            self.states[state.series, state.signal] = kept
        self.found |= {(each.series, each.signal): each for each in findings}
        self.changed += changes


class BreachStore:
    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.states = {}
        self.breaches: dict[str, BreachDetail] = {}
        self.opened: list[str] = []

    def threshold_states(self):
        return list(self.states.values())

    def breach(self, breach_id: str) -> BreachDetail | None:
        return self.breaches.get(breach_id)

    def save(self, lease, *, states, breaches) -> None:
        self.lease.require(lease)
        for state in states:
            kept = replace(state, stored=json.loads(json.dumps(state.stored)))
            self.states[state.threshold, state.series] = kept
        for detail in breaches:
            if detail.breach.id not in self.breaches:
                self.opened.append(detail.breach.id)
            self.breaches[detail.breach.id] = detail


class Calibrations:
    def __init__(self) -> None:
        self.active: list[Calibration] = []

    def in_force(self) -> list[Calibration]:
        return list(self.active)


class Facts:
    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.known.get(key)

    def settle(self, key: str, value: str) -> str:
        return self.known.setdefault(key, value)


@dataclass
class World:
    """Everything that a turn reads and writes."""

    clock: SimpleNamespace
    samples: Samples
    lease: Lease
    drift: DriftStore
    breaches: BreachStore
    calibrations: Calibrations
    facts: Facts

    def add(
        self,
        values: Sequence[float],
        *,
        signal: str = "hss",
        every: float = 60.0,
        series: Series = SERIES,
        **fields: object,
    ) -> None:
        """Records one after the other; the clock goes with them."""
        for value in values:
            self.clock.now += timedelta(seconds=every)
            self.samples.records.append(
                Record(
                    at=self.clock.now,
                    id=f"r{len(self.samples.records):06d}",
                    values={signal: value},
                    series=series,
                    **fields,  # type: ignore[arg-type]
                )
            )
        self.clock.now += timedelta(seconds=1)

    def calibrate(
        self, *signals: str, name: str = "cal-1", since: datetime = START, **options: float
    ) -> None:
        """Make what there is now the reference, as `hss-monitor calibrate` does."""
        calibration = Calibration(
            id=name,
            fingerprint="fp",
            settings={},
            created_at=self.clock.now,
            window="reference",
            since=since,
            until=self.clock.now,
            provisional=False,
            normalizers=(),
        )
        for signal in signals or ("hss",):
            sample = self.samples.sample(SERIES, signal, since=since, until=self.clock.now)
            fitted = fit_reference(
                sample.values,
                sample.times,
                id=name,
                scale=SIGNALS[signal],
                shares=sample.shares,
                **options,  # type: ignore[arg-type]
            )
            assert isinstance(fitted, Reference)
            self.drift.stored.append(
                StoredReference(
                    calibration_id=name,
                    series=SERIES,
                    signal=signal,
                    fitted=json.loads(json.dumps(fitted.stored())),
                    reason=None,
                    detail="",
                    warning=None,
                    records=len(sample),
                    since=datetime.fromtimestamp(sample.times[0], UTC),
                    until=datetime.fromtimestamp(sample.times[-1], UTC),
                )
            )
        self.calibrations.active = [calibration]

    def finding(self, signal: str = "hss", series: Series = SERIES):
        return self.drift.found[series, signal]


@pytest.fixture
def world() -> World:
    clock = SimpleNamespace(now=START)
    lease = Lease(clock)
    return World(
        clock=clock,
        samples=Samples(),
        lease=lease,
        drift=DriftStore(lease),
        breaches=BreachStore(lease),
        calibrations=Calibrations(),
        facts=Facts(),
    )


@pytest.fixture
def evaluator(world: World) -> Callable[..., Evaluator]:
    """An evaluator on the world, as its composition root wires one."""

    def make(holder: str = "front-1", *, budget: float = 60.0, **sections: object) -> Evaluator:
        settings = Settings(**sections)  # type: ignore[arg-type]
        references = References(world.calibrations, world.drift)
        windows = Windows(
            world.samples,
            seconds=settings.drift.window_seconds,
            permutations=settings.drift.permutations,
            budget=budget,
            monotonic=lambda: 0.0,
        )
        return Evaluator(
            Judges(
                references=references,
                drift=DriftJudge(
                    samples=world.samples,
                    store=world.drift,
                    references=references,
                    windows=windows,
                    settings=settings.drift,
                ),
                thresholds=ThresholdJudge(
                    samples=world.samples,
                    store=world.breaches,
                    limits=Limits(world.samples, references, world.facts),
                    configured=settings.thresholds,
                    breach_id=lambda threshold, series, number: f"{threshold}-{number}",
                ),
            ),
            samples=world.samples,
            drift=world.drift,
            breaches=world.breaches,
            lease=world.lease,
            holder=holder,
            settings=settings,
            clock=lambda: world.clock.now,
        )

    return make


@pytest.fixture
def normal() -> Callable[..., list[float]]:
    """Beta(2, 8): mean 0.2."""

    def draw(count: int, seed: int = 1, plus: float = 0.0) -> list[float]:
        values = np.random.default_rng(seed).beta(2, 8, count) + plus
        return np.clip(values, 0, 1).tolist()

    return draw
