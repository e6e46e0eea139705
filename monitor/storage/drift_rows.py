"""Rows of the tables of drift as findings, and back."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from monitor.findings import (
    Cursor,
    DriftChange,
    DriftFinding,
    DriftTest,
    StoredReference,
    WatchState,
)
from monitor.storage.series_columns import series_of, series_row


def reference_row(reference: StoredReference) -> dict[str, Any]:
    return {
        **series_row(reference.series),
        "signal": reference.signal,
        "calibration_id": reference.calibration_id,
        "fitted": None if reference.fitted is None else dict(reference.fitted),
        "reason": reference.reason,
        "detail": reference.detail,
        "warning": reference.warning,
        "records": reference.records,
        "since": reference.since,
        "until": reference.until,
        "release": reference.release,
        "origin": reference.origin,
    }


def reference(row: Row[*tuple[Any, ...]]) -> StoredReference:
    return StoredReference(
        calibration_id=row.calibration_id,
        series=series_of(row),
        signal=row.signal,
        fitted=row.fitted,
        reason=row.reason,
        detail=row.detail,
        warning=row.warning,
        records=row.records,
        since=row.since,
        until=row.until,
        release=row.release,
        origin=row.origin,
    )


def state_row(state: WatchState) -> dict[str, Any]:
    cursor = state.cursor
    return {
        **series_row(state.series),
        "signal": state.signal,
        "reference_id": state.reference_id,
        "state": dict(state.state),
        "cursor_received_at": None if cursor is None else cursor.received_at,
        "cursor_record_id": None if cursor is None else cursor.record_id,
    }


def watch_state(row: Row[*tuple[Any, ...]]) -> WatchState:
    cursor = None
    if row.cursor_record_id is not None:
        cursor = Cursor(received_at=row.cursor_received_at, record_id=row.cursor_record_id)
    return WatchState(
        series=series_of(row),
        signal=row.signal,
        reference_id=row.reference_id,
        state=row.state,
        cursor=cursor,
    )


_FINDING_FIELDS = (
    "signal",
    "calibration_id",
    "state",
    "reason",
    "detail",
    "direction",
    "since",
    "raised_at",
    "effect",
    "effect_low",
    "effect_high",
    "deviations",
    "reference_mean",
    "current_mean",
    "evidence",
    "threshold",
    "records",
    "evaluated_at",
)
"""Fields of `DriftFinding` that are columns of the same name."""


def finding_row(finding: DriftFinding) -> dict[str, Any]:
    tests = [
        [test.statistic, test.value, test.p, test.adjusted_p, test.reason, test.detail]
        for test in finding.tests
    ]
    plain = {field: getattr(finding, field) for field in _FINDING_FIELDS}
    return {**series_row(finding.series), **plain, "tests": tests}


def finding(row: Row[*tuple[Any, ...]]) -> DriftFinding:
    return DriftFinding(
        series=series_of(row),
        tests=tuple(
            DriftTest(
                statistic=statistic,
                value=value,
                p=p,
                adjusted_p=adjusted_p,
                reason=reason,
                detail=detail,
            )
            for statistic, value, p, adjusted_p, reason, detail in row.tests
        ),
        **{field: getattr(row, field) for field in _FINDING_FIELDS},
    )


def change_row(change: DriftChange) -> dict[str, Any]:
    return {
        **series_row(change.series),
        "signal": change.signal,
        "state_before": change.before,
        "state_after": change.after,
        "at": change.at,
        "since": change.since,
        "direction": change.direction,
    }


def change(row: Row[*tuple[Any, ...]]) -> DriftChange:
    return DriftChange(
        series=series_of(row),
        signal=row.signal,
        before=row.state_before,
        after=row.state_after,
        at=row.at,
        since=row.since,
        direction=row.direction,
    )
