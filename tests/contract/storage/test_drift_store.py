"""References, detectors and verdicts, stored and read back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.errors import LeaseLost, UsageError
from monitor.findings import (
    Cursor,
    DriftChange,
    DriftFinding,
    DriftTest,
    EvaluatorLease,
    Series,
    StoredReference,
    WatchState,
)
from monitor.records import Calibration
from monitor.storage.calibrations import SqlCalibrationStore
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database
from monitor.storage.lease import SqlEvaluatorLease
from monitor.storage.types import UnstorableValue

NEWS = Series(service="news", model="gemma", category="politics")
LEGAL = Series(service="legal", model="gemma", category="")


@pytest.fixture
def store(database: Database, clock: Any) -> SqlDriftStore:
    return SqlDriftStore(database, clock=clock)


@pytest.fixture
def lease(database: Database, clock: Any) -> Any:
    """A lease of an hour."""
    leases = SqlEvaluatorLease(database, clock=clock)
    yield leases.acquire("a", seconds=3600)
    leases.close()


def reference(calibration_id: str, series: Series = NEWS, **fields: Any) -> StoredReference:
    values: dict[str, Any] = {
        "signal": "hss",
        "fitted": {"level": [0.25, 1e-17], "mapper": {"scale": "unit", "knots": []}},
        "reason": None,
        "detail": "",
        "warning": "halves differ",
        "records": 500,
        "since": None,
        "until": None,
    } | fields
    return StoredReference(calibration_id=calibration_id, series=series, **values)


def state(series: Series = NEWS, signal: str = "hss", **fields: Any) -> WatchState:
    values: dict[str, Any] = {
        "reference_id": "cal-1",
        "state": {"evidence": {"sums": [[0.0, 1.5]]}, "alarm": None},
        "cursor": None,
    } | fields
    return WatchState(series=series, signal=signal, **values)


def finding(clock: Any, series: Series = NEWS, signal: str = "hss", **fields: Any) -> DriftFinding:
    values: dict[str, Any] = {
        "calibration_id": "cal-1",
        "state": "drifted",
        "reason": None,
        "detail": "HSS rose",
        "direction": "level up",
        "since": clock.now - timedelta(hours=2),
        "raised_at": clock.now - timedelta(hours=1),
        "effect": 0.1,
        "effect_low": 0.05,
        "effect_high": 0.15,
        "deviations": 1.25,
        "reference_mean": 0.2,
        "current_mean": 0.3,
        "evidence": 12_000.0,
        "threshold": 10_000.0,
        "records": 320,
        "tests": (
            DriftTest(
                statistic="psi", value=0.3, p=0.001, adjusted_p=0.008, reason=None, detail=""
            ),
            DriftTest(
                statistic="ks",
                value=None,
                p=None,
                adjusted_p=None,
                reason="too_correlated",
                detail="12 blocks",
            ),
        ),
        "evaluated_at": clock.now,
    } | fields
    return DriftFinding(series=series, signal=signal, **values)


def change(clock: Any, series: Series = NEWS, **fields: Any) -> DriftChange:
    values: dict[str, Any] = {
        "signal": "hss",
        "before": "stable",
        "after": "drifted",
        "at": clock.now,
        "since": clock.now - timedelta(hours=2),
        "direction": "level up",
    } | fields
    return DriftChange(series=series, **values)


def calibration(name: str, clock: Any, *, fingerprint: str = "f") -> Calibration:
    return Calibration(
        id=name,
        fingerprint=fingerprint,
        settings={},
        created_at=clock.now,
        window="first week",
        since=None,
        until=None,
        provisional=False,
        normalizers=(),
        warnings=(),
    )


def test_a_reference_is_read_back_as_it_was_frozen(store: SqlDriftStore, clock: Any) -> None:
    """Numbers to the last bit: the detector's promise is about exactly these limits."""
    fitted = reference("cal-1", since=clock.now - timedelta(days=7), until=clock.now)
    lacking = reference(
        "cal-1",
        LEGAL,
        fitted=None,
        reason="too_few_records",
        detail="3 records",
        warning=None,
        release="2026.11",
    )
    store.save_references([fitted, lacking])
    assert store.references("cal-1") == [lacking, fitted]
    assert store.references("cal-2") == []


def test_a_stored_reference_never_changes(store: SqlDriftStore) -> None:
    """One that followed the traffic would adapt to every degradation."""
    store.save_references([reference("cal-1")])
    store.save_references([reference("cal-1", records=9), reference("cal-1", signal="excess")])
    assert [(found.signal, found.records) for found in store.references("cal-1")] == [
        ("excess", 500),
        ("hss", 500),
    ]


def test_the_references_in_force_are_those_of_active_calibrations(
    database: Database, store: SqlDriftStore, clock: Any
) -> None:
    """Activating another calibration, or going back, changes all references at once."""
    calibrations = SqlCalibrationStore(database)
    for name in ("cal-1", "cal-2"):
        store.save_references([reference(name)])
        assert name not in {found.calibration_id for found in store.references()}
        calibrations.add(calibration(name, clock), activate=True)
    assert [found.calibration_id for found in store.references()] == ["cal-2"]
    calibrations.activate("cal-1")
    assert [found.calibration_id for found in store.references()] == ["cal-1"]


def test_a_calibration_tells_which_series_it_leaves_without_a_reference(
    database: Database, store: SqlDriftStore, clock: Any
) -> None:
    """One of a single service takes the place of the one of all: the others would go unwatched."""
    calibrations = SqlCalibrationStore(database)
    calibrations.add(calibration("all", clock), activate=True)
    calibrations.add(calibration("other settings", clock, fingerprint="g"), activate=True)
    calibrations.add(calibration("one", clock), activate=False)
    sport = replace(NEWS, category="sport")
    store.save_references(
        [
            *(reference("all", each) for each in (NEWS, LEGAL, sport)),
            reference("all", replace(NEWS, category="law"), fitted=None, reason="no_full_cycle"),
            reference("other settings", replace(NEWS, service="far")),
            reference("one", NEWS),
            reference("one", sport, fitted=None, reason="too_few_records"),
        ]
    )
    assert store.uncovered("one") == [LEGAL, sport]
    assert store.uncovered("all") == []
    calibrations.activate("one")
    assert store.uncovered("all") == []


def test_an_evaluation_is_read_back_as_it_was_saved(
    store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """Another evaluator goes on with exactly this."""
    cursor = Cursor(received_at=clock.now - timedelta(microseconds=1), record_id="r9")
    states = [state(LEGAL), state(cursor=cursor)]
    findings = [finding(clock, LEGAL, since=None, tests=()), finding(clock)]
    store.save(lease, states=states, findings=findings, changes=[change(clock)])
    assert store.watch_states() == states
    assert store.findings() == findings
    assert store.changes() == [change(clock)]


def test_an_evaluation_replaces_what_it_is_about_and_no_more(
    store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """Not every series has new records in every turn."""
    store.save(
        lease,
        states=[state(), state(LEGAL)],
        findings=[finding(clock), finding(clock, signal="excess")],
        changes=[],
    )
    newer = state(cursor=Cursor(received_at=clock.now, record_id="r2"), reference_id="cal-2")
    stable = finding(
        clock, state="stable", direction=None, since=None, raised_at=None, evidence=None
    )
    store.save(lease, states=[newer], findings=[stable], changes=[])
    assert store.watch_states() == [state(LEGAL), newer]
    assert store.findings() == [finding(clock, signal="excess"), stable]


def test_an_evaluation_without_the_lease_leaves_no_trace(
    database: Database, store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """A former holder that wakes up late must not turn anything back."""
    everything = {
        "states": [state()],
        "findings": [finding(clock)],
        "changes": [change(clock)],
    }
    for wrong in (replace(lease, token=lease.token - 1), replace(lease, holder="b")):
        with pytest.raises(LeaseLost):
            store.save(wrong, **everything)
    clock.advance(3600)
    with pytest.raises(LeaseLost, match="ran out"):
        store.save(lease, **everything)
    assert (store.watch_states(), store.findings(), store.changes()) == ([], [], [])
    SqlDriftStore(database).save(lease, **everything)
    assert store.watch_states() == [state()]


def test_what_cannot_be_stored_leaves_the_whole_evaluation_out(
    store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """A cursor that moved on without its verdict would skip records for good."""
    broken = finding(clock, effect=float("nan"))
    with pytest.raises(UnstorableValue, match="effect: nan"):
        store.save(lease, states=[state()], findings=[broken], changes=[])
    assert store.watch_states() == []


def test_verdicts_are_found_by_series_signal_and_state(
    store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """Pages and commands ask for one or for all."""
    stable = finding(clock, LEGAL, state="stable")
    excess = finding(clock, signal="excess", state="suspect")
    hss = finding(clock)
    store.save(lease, states=[], findings=[hss, stable, excess], changes=[])
    assert store.findings() == [stable, excess, hss]
    assert store.findings(service="news", model="gemma") == [excess, hss]
    assert store.findings(category="") == [stable]
    assert store.findings(signal="hss") == [stable, hss]
    assert store.findings(state="drifted") == [hss]
    assert store.findings(service="news", state="stable") == []


def test_changes_come_newest_first(store: SqlDriftStore, lease: EvaluatorLease, clock: Any) -> None:
    """What happened last is what an incident is about."""
    old = change(clock, LEGAL)
    clock.advance(60)
    new = change(clock, before="drifted", after="stable", since=None, direction=None)
    store.save(lease, states=[], findings=[], changes=[old])
    store.save(lease, states=[], findings=[], changes=[new])
    assert store.changes() == [new, old]
    assert store.changes(limit=1) == [new]
    assert store.changes(since=clock.now) == [new]
    assert store.changes(service="legal", category="") == [old]
    assert store.changes(model="other") == []


def test_a_change_that_is_saved_again_is_one_change(
    store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """An evaluator whose connection broke during the commit tries again."""
    for _ in range(2):
        store.save(lease, states=[], findings=[], changes=[change(clock)])
    assert store.changes() == [change(clock)]


@pytest.mark.parametrize("limit", [0, 201])
def test_changes_are_read_at_most_200_at_once(store: SqlDriftStore, limit: int) -> None:
    """No reader can ask for all of them at once."""
    with pytest.raises(UsageError, match=f"limit: {limit} rows; ask for 1 to 200"):
        store.changes(limit=limit)


def test_an_unknown_state_is_refused(
    store: SqlDriftStore, lease: EvaluatorLease, clock: Any
) -> None:
    """The database knows the four verdicts, too."""
    with pytest.raises(sa.exc.IntegrityError):
        store.save(lease, states=[], findings=[finding(clock, state="odd")], changes=[])
