"""Findings and records as an evaluator and scorers would have stored them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    DriftChange,
    DriftFinding,
    DriftTest,
    Series,
    ThresholdState,
)
from monitor.records import (
    IncomingRecord,
    RecordState,
    SampledRecord,
    SamplingDecision,
    ScoredRecord,
    Severity,
    Stratum,
    Support,
)
from monitor.storage.breach_store import breach_id
from monitor.stores import Stores, now

SERIES = Series(service="news", model="gemma", category="politics")
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def finding(signal: str = "hss", state: str = "drifted", **fields: object) -> DriftFinding:
    """A verdict; a drifted one since ten minutes before `AT`."""
    drifted = state == "drifted"
    values: dict[str, object] = {
        "series": SERIES,
        "signal": signal,
        "calibration_id": "cal-1",
        "state": state,
        "reason": "no_reference" if state == "insufficient" else None,
        "detail": "no reference: run `hss-monitor calibrate`" if state == "insufficient" else "",
        "direction": "level_up" if drifted else None,
        "since": AT - timedelta(minutes=10) if drifted else None,
        "raised_at": AT - timedelta(minutes=5) if drifted else None,
        "effect": 0.2,
        "effect_low": 0.15,
        "effect_high": 0.25,
        "deviations": 1.5,
        "reference_mean": 0.3,
        "current_mean": 0.5,
        "evidence": 2e6 if drifted else 10.0,
        "threshold": 1e6,
        "records": 120,
        "tests": (
            DriftTest(
                statistic="psi", value=0.4, p=0.001, adjusted_p=0.003, reason=None, detail=""
            ),
            DriftTest(
                statistic="ks",
                value=None,
                p=None,
                adjusted_p=None,
                reason="too_few_records",
                detail="3 blocks",
            ),
        ),
        "evaluated_at": AT,
    }
    return DriftFinding(**(values | fields))  # type: ignore[arg-type]  # what a test hands over


def change(signal: str = "hss", *, at: datetime = AT) -> DriftChange:
    return DriftChange(
        series=SERIES,
        signal=signal,
        before="stable",
        after="drifted",
        at=at,
        since=at - timedelta(minutes=10),
        direction="level_up",
    )


def threshold_state(threshold: str, state: str = "ok", **fields: object) -> ThresholdState:
    values: dict[str, object] = {
        "threshold": threshold,
        "series": SERIES,
        "state": state,
        "number": 1 if state in {"open", "resolved"} else 0,
        "value": 0.9,
        "limit": 0.8,
        "level": None,
        "records": 40,
        "reason": None,
        "evaluated_at": AT,
        "stored": {},
    }
    return ThresholdState(**(values | fields))  # type: ignore[arg-type]  # as above


def breach(*contributors: str, threshold: str = "hss_mean", **fields: object) -> BreachDetail:
    """An open breach since ten minutes before `AT`, with these records."""
    number = int(fields.get("number", 1))  # type: ignore[call-overload]  # a number
    values: dict[str, object] = {
        "id": breach_id(threshold, SERIES, number),
        "threshold": threshold,
        "series": SERIES,
        "number": number,
        "signal": "hss",
        "statistic": "mean",
        "comparison": "above",
        "severity": "page",
        "state": "open",
        "exceeded_since": AT - timedelta(minutes=10),
        "opened_at": AT - timedelta(minutes=5),
        "resolved_at": None,
        "value": 0.9,
        "worst": 0.95,
        "limit": 0.8,
        "window_seconds": 3600.0,
        "records": 40,
        "acknowledged_at": None,
        "acknowledged_by": None,
        "note": None,
    }
    return BreachDetail(
        breach=BreachRow(**(values | fields)),  # type: ignore[arg-type]  # as above
        contributors=tuple(
            BreachContributor(
                record_id=record,
                value=1.0,
                weight=4.0,
                place=place,
                release="2.0",
                mark=None,
                marked_by=None,
                marked_at=None,
            )
            for place, record in enumerate(contributors, 1)
        ),
    )


def save_drift(
    stores: Stores, findings: Sequence[DriftFinding], changes: Sequence[DriftChange] = ()
) -> None:
    lease = stores.lease.acquire("test", seconds=60)
    assert lease is not None
    stores.drift.save(lease, states=(), findings=findings, changes=changes)
    stores.lease.release(lease)


def save_breaches(
    stores: Stores, states: Sequence[ThresholdState], breaches: Sequence[BreachDetail] = ()
) -> None:
    lease = stores.lease.acquire("test", seconds=60)
    assert lease is not None
    stores.breaches.save(lease, states=states, breaches=breaches)
    stores.lease.release(lease)


def save_scores(
    stores: Stores,
    values: Sequence[float],
    *,
    since: datetime,
    step: timedelta = timedelta(minutes=1),
    prefix: str = "r",
    probability: float = 1.0,
    series: Series = SERIES,
    **fields: object,
) -> list[str]:
    """One scored record for each HSS, `step` apart; the ids in their order."""
    ids = [f"{prefix}{number:04}" for number in range(len(values))]
    stores.queue.accept(
        [
            waiting(record, since + number * step, probability=probability, series=series, **fields)
            for number, record in enumerate(ids)
        ]
    )
    hss = dict(zip(ids, values, strict=True))
    leased = stores.queue.lease("test", count=len(ids), seconds=60)
    for item in leased:
        stores.queue.finish(item.lease, scored(item.record.id, hss[item.record.id]))
    return ids


def scored(record: str, hss: float | None, **fields: object) -> ScoredRecord:
    values: dict[str, object] = {
        "state": RecordState.SCORED,
        "reason": None,
        "detail": "",
        "category": SERIES.category,
        "scored_at": now(),
        "fingerprint": "fp",
        "severity": Severity(
            hss=hss, low=None, high=None, reason=None, interval_reason=None, normalizer=None
        ),
        "calibration_id": "cal-1",
        "raw_distance": 0.2,
        "null_distance": 0.05,
        "support": Support(
            entity_support=0.5,
            entity_reason=None,
            number_support=1.0,
            number_reason=None,
            unsupported=(),
            entities=2,
            numbers=1,
        ),
    } | fields
    return ScoredRecord(record_id=record, **values)  # type: ignore[arg-type]  # as above


def waiting(
    record: str,
    at: datetime,
    *,
    probability: float = 1.0,
    series: Series = SERIES,
    **fields: object,
) -> SampledRecord:
    """A sampled record that no scorer has seen yet."""
    incoming = IncomingRecord(
        id=record,
        document="The harbour council approved the budget.",
        summary="The council approved it.",
        service=series.service,
        model=series.model,
        received_at=at,
        category=series.category,
    )
    stratum = Stratum(service=series.service, model=series.model, category=series.category)
    return SampledRecord(
        record=replace(incoming, **fields),  # type: ignore[arg-type]  # as above
        decision=SamplingDecision(sampled=True, stratum=stratum, probability=probability, epoch=1),
        front="test",
    )


def parsed(time: str) -> datetime:
    return datetime.fromisoformat(time)
