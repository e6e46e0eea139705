"""What a turn needs from storage, with the guarantees that it relies on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from monitor.findings import (
    BreachDetail,
    Cursor,
    DriftChange,
    DriftFinding,
    EvaluatorLease,
    Series,
    SignalSample,
    StoredReference,
    ThresholdState,
    WatchState,
)
from monitor.records import Calibration


class Samples(Protocol):
    """Stored scores as columns; each answer is in the order (received_at, id)."""

    def series(self, *, since: datetime, limit: int) -> Sequence[tuple[Series, int]]:
        """Series with records finished since then, busiest first, and how many."""

    def finished_until(self, series: Series, *, now: datetime) -> datetime:
        """No record received before this moment can still become final."""

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
        """Records with this signal, received in [since, until), behind a cursor.

        With a calibration only what it makes comparable: values measured under its fingerprint,
        and HSS that was normalized by it.
        """

    def reference(
        self, series: Series, signal: str, calibration: Calibration, *, until: datetime
    ) -> SignalSample:
        """Records of the calibration's window up to and with `until`; HSS as it normalizes it."""

    def minutes_unscored(self, series: Series, *, now: datetime) -> float | None:
        """How long records of the series have waited without any being finished."""


class DriftStore(Protocol):
    """References, detector states and verdicts. Reading raises `DatabaseUnavailable`, too."""

    def references(self, calibration_id: str | None = None) -> list[StoredReference]:
        """Of one calibration; `None`: of every active one."""

    def watch_states(self) -> list[WatchState]:
        """As the last turn saved them."""

    def findings(self) -> list[DriftFinding]:
        """The present verdicts."""

    def save(
        self,
        lease: EvaluatorLease,
        *,
        states: Sequence[WatchState],
        findings: Sequence[DriftFinding],
        changes: Sequence[DriftChange],
    ) -> None:
        """All or nothing; the same once more changes nothing. Raises `LeaseLost` where another
        has taken over."""


class BreachStore(Protocol):
    """Thresholds as they stand, and breaches. Reading raises `DatabaseUnavailable`, too."""

    def threshold_states(self) -> list[ThresholdState]:
        """As the last turn saved them."""

    def breach(self, breach_id: str) -> BreachDetail | None:
        """A stored breach with its contributors; `None` for an unknown id."""

    def save(
        self,
        lease: EvaluatorLease,
        *,
        states: Sequence[ThresholdState],
        breaches: Sequence[BreachDetail],
    ) -> None:
        """As `DriftStore.save`; keeps what people said about a breach."""


class Facts(Protocol):
    """Small values that never change once they are settled. Raises `DatabaseUnavailable`."""

    def get(self, key: str) -> str | None:
        """The value; `None` where there is none yet."""

    def settle(self, key: str, value: str) -> str:
        """The value, which is this one where there was none: whoever comes first decides."""


class Lease(Protocol):
    """Of all evaluators on one database one holds it at a time. Raises `DatabaseUnavailable`."""

    def acquire(self, holder: str, *, seconds: float) -> EvaluatorLease | None:
        """Take or renew; `None` while somebody else holds it."""

    def complete(self, lease: EvaluatorLease) -> None:
        """Note that everything was judged."""

    def release(self, lease: EvaluatorLease) -> None:
        """Let another take over at once."""


class Calibrations(Protocol):
    """Frozen calibrations: none ever changes, only which are active does."""

    def in_force(self) -> list[Calibration]:
        """The active ones, newest first."""
