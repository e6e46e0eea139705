"""What is found out about many records together: references, drift, breaches.

    series    SignalSample                        the records of one series, by one signal
        ▼
    drift     StoredReference ▶ DriftFinding      is that still what it was?
    breaches  ThresholdState ▶ BreachRow          is it beyond a limit, by which records?

    lease     EvaluatorLease                      which front judges

Frozen records in the order in which they flow, as `storage` keeps them and gives them back.
Enumerations of the stages appear as their values (plain strings), so that storage needs to know
no stage.
"""

from monitor.findings.breaches import (
    BREACH_STATES,
    BreachContributor,
    BreachDetail,
    BreachRow,
    MarkCounts,
    ThresholdState,
)
from monitor.findings.drift import (
    DRIFT_STATES,
    DriftChange,
    DriftFinding,
    DriftTest,
    StoredReference,
    WatchState,
)
from monitor.findings.lease import EvaluatorLease
from monitor.findings.series import Cursor, Series, SignalSample

__all__ = [
    "BREACH_STATES",
    "DRIFT_STATES",
    "BreachContributor",
    "BreachDetail",
    "BreachRow",
    "Cursor",
    "DriftChange",
    "DriftFinding",
    "DriftTest",
    "EvaluatorLease",
    "MarkCounts",
    "Series",
    "SignalSample",
    "StoredReference",
    "ThresholdState",
    "WatchState",
]
