"""What the evaluator would have found out by the end of the night, and people said of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    DriftChange,
    DriftFinding,
    DriftTest,
    Series,
    StoredReference,
    ThresholdState,
)
from monitor.ports import Clock
from monitor.storage.breach_store import SqlBreachStore, breach_id
from monitor.storage.comparison import record_rows
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database
from monitor.storage.lease import SqlEvaluatorLease
from monitor.storage.queries import RecordFilter, list_records

NEWS = Series(service="newsroom", model="gemma-270m", category="politics")
SPORT = Series(service="newsroom", model="gemma-270m", category="sport")
CASES = Series(service="case-files", model="bart-large-cnn", category="law")
BAD = "2026.11.30-rc2"
GOOD = "2026.11.28"


def judge(
    database: Database, clock: Clock, now: datetime, bad_since: datetime, worst: str
) -> tuple[str, str]:
    """What the evaluator found: an open breach, an older resolved one, drift of three signals."""
    lease_store = SqlEvaluatorLease(database, clock=clock)
    lease = lease_store.acquire("night:8318", seconds=600)
    assert lease is not None
    exceeded = bad_since + timedelta(minutes=9)
    open_breach = _breach(
        "hss_mean", NEWS, "hss", exceeded, number=2, value=0.861, worst=0.893, limit=0.8
    )
    support = _breach(
        "entity_support_low",
        SPORT,
        "entity_support",
        exceeded + timedelta(minutes=2),
        comparison="below",
        value=0.31,
        worst=0.28,
        limit=0.8,
    )
    resolved = _breach(
        "null_distance_high",
        CASES,
        "null_distance",
        now - timedelta(hours=4),
        severity="ticket",
        state="resolved",
        resolved_at=now - timedelta(hours=3),
        value=0.041,
        worst=0.122,
        limit=0.05,
    )
    bad = [name for name in _newest(database) if name != worst][:7]
    rows = record_rows(database, [worst, *bad])
    contributors = tuple(
        BreachContributor(
            record_id=name,
            value=rows[name].hss if name in rows else 0.7,
            weight=2.0,
            place=place,
            release=BAD,
            mark=None,
            marked_by=None,
            marked_at=None,
        )
        for place, name in enumerate([worst, *bad, "long-gone"], start=1)
    )
    store = SqlBreachStore(database, clock=clock)
    store.save(
        lease,
        states=[
            _state("hss_mean", NEWS, "open", now, number=2, value=0.861, limit=0.8),
            _state("shap_instability_high", CASES, "pending", now, value=0.14, limit=0.12),
            _state(
                "null_distance_high",
                CASES,
                "resolved",
                now,
                number=1,
                value=None,
                limit=0.05,
                records=3,
                reason="too_few_records",
            ),
        ],
        breaches=[
            BreachDetail(breach=open_breach, contributors=contributors),
            BreachDetail(breach=support, contributors=contributors[:3]),
            BreachDetail(breach=resolved, contributors=()),
        ],
    )
    store.acknowledge(resolved.id, name="Amina", note="the GPU pool was moved")
    store.mark(open_breach.id, bad[0], right=True, name="Amina")
    _save_drift(database, clock, lease, now, bad_since)
    lease_store.complete(lease)
    return open_breach.id, resolved.id


def _newest(database: Database) -> list[str]:
    """Of the bad release, highest HSS first."""
    wanted = RecordFilter(
        service=NEWS.service, model=NEWS.model, category=NEWS.category, release=BAD
    )
    rows = list_records(database, wanted, limit=12).rows
    return [row.id for row in sorted(rows, key=lambda row: -(row.hss or 0))]


def _breach(
    threshold: str, series: Series, signal: str, exceeded: datetime, **fields: Any
) -> BreachRow:
    """One that opened five minutes after its limit was exceeded; fields are what differs."""
    values: dict[str, Any] = {
        "number": 1,
        "statistic": "mean",
        "comparison": "above",
        "severity": "page",
        "state": "open",
        "resolved_at": None,
        "window_seconds": 900.0,
        "records": 31,
        "acknowledged_at": None,
        "acknowledged_by": None,
        "note": None,
    } | fields
    return BreachRow(
        id=breach_id(threshold, series, values["number"]),
        threshold=threshold,
        series=series,
        signal=signal,
        exceeded_since=exceeded,
        opened_at=exceeded + timedelta(minutes=5),
        **values,
    )


def _state(
    threshold: str, series: Series, state: str, now: datetime, **fields: Any
) -> ThresholdState:
    values: dict[str, Any] = {"number": 0, "level": None, "records": 31, "reason": None} | fields
    return ThresholdState(
        threshold=threshold, series=series, state=state, evaluated_at=now, stored={}, **values
    )


def _save_drift(
    database: Database, clock: Clock, lease: Any, now: datetime, bad_since: datetime
) -> None:
    store = SqlDriftStore(database, clock=clock)
    store.save_references(
        [
            StoredReference(
                calibration_id="first-week",
                series=series,
                signal=signal,
                fitted={"kind": "made for a test"},
                reason=None,
                detail="",
                warning=None,
                records=300,
                since=now - timedelta(hours=6),
                until=now - timedelta(hours=2),
            )
            for series in (NEWS, SPORT)
            for signal in ("hss", "entity_support", "shap_instability", "document_words")
        ]
    )
    findings = []
    for series in (NEWS, SPORT, CASES):
        for signal in ("hss", "entity_support", "shap_instability", "document_words"):
            if series is CASES:
                state, reason = "insufficient", "too_few_records"
            elif signal == "document_words":
                state, reason = "stable", None
            else:
                state, reason = ("drifted" if series is NEWS else "suspect"), None
            drifted = state == "drifted"
            known = state != "insufficient"
            findings.append(
                DriftFinding(
                    series=series,
                    signal=signal,
                    calibration_id="first-week" if known else None,
                    state=state,
                    reason=reason,
                    detail="" if known else "58 reference records, it takes 200",
                    direction="level_up" if drifted else None,
                    since=bad_since + timedelta(minutes=1) if drifted else None,
                    raised_at=bad_since + timedelta(minutes=12) if drifted else None,
                    effect=0.62 if drifted else 0.04 if known else None,
                    effect_low=0.55 if drifted else -0.01 if known else None,
                    effect_high=0.69 if drifted else 0.09 if known else None,
                    deviations=4.1 if drifted else 0.3 if known else None,
                    reference_mean=0.21 if known else None,
                    current_mean=0.83 if drifted else 0.25 if known else None,
                    evidence=41_200.0 if drifted else 310.0 if known else None,
                    threshold=28_800.0,
                    records=88,
                    tests=tuple(
                        DriftTest(
                            statistic=statistic,
                            value=value,
                            p=0.001 if drifted else 0.31,
                            adjusted_p=0.012 if drifted else 0.74,
                            reason=None,
                            detail="",
                        )
                        for statistic, value in (("psi", 0.8), ("ks", 0.6), ("wasserstein", 0.5))
                    )
                    if known
                    else (),
                    evaluated_at=now,
                )
            )
    store.save(
        lease,
        states=[],
        findings=findings,
        changes=[
            DriftChange(
                series=NEWS,
                signal="hss",
                before="stable",
                after="drifted",
                at=bad_since + timedelta(minutes=12),
                since=bad_since + timedelta(minutes=1),
                direction="level_up",
            ),
            *(
                DriftChange(
                    series=CASES,
                    signal="null_distance",
                    before=before,
                    after=after,
                    at=now - timedelta(minutes=minutes),
                    since=now - timedelta(minutes=245) if after == "drifted" else None,
                    direction="level_up" if after == "drifted" else None,
                )
                for before, after, minutes in (
                    ("stable", "drifted", 230),
                    ("drifted", "stable", 150),
                )
            ),
        ],
    )
