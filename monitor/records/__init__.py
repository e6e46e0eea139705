"""The records that move between stages, in the order in which they flow.

    incoming      IncomingRecord           one summarization of live traffic
        ▼
    sampling      SampledRecord            its probability of being scored
        ▼
    lease         LeasedRecord             a scorer's claim on it
        ▼
    perturbation  PerturbationSet          K reworded documents
        ▼
    summaries     SummaryTask ▶ Summary    what the summarizer makes of each
        ▼
    distances     PerturbationScore        how far each summary moved
        ▼
    severity      Calibration ▶ Severity   that, in units of ordinary movement: HSS
        ▼
    attribution   Explanation              which words it hangs on
        ▼
    factuality    Support, FactualScore    what the document bears out
        ▼
    scored        ScoredRecord             all of it, as it is stored
        ▼
    finished      FinishedRecord           what the metrics count of it

Beside them `outcome` says where a record stands (`RecordState`) and why a value is unknown
(`Reason`).

All are frozen and keyword-only. Times are aware UTC datetimes. Text offsets count
Unicode code points. A value that was not computed is `None`, and a `Reason` beside it
says why; there is no NaN and no silent zero anywhere in here.
"""

from monitor.records.arrays import FloatArray
from monitor.records.attribution import (
    Attribution,
    AttributionMethod,
    Explanation,
    Granularity,
    MethodResult,
)
from monitor.records.distances import NullRun, PerturbationScore, SummaryDistribution, Transport
from monitor.records.factuality import FactualScore, Support, UnsupportedFact
from monitor.records.finished import FinishedRecord
from monitor.records.incoming import CapturedRequest, IncomingRecord, Message
from monitor.records.lease import Lease, LeasedRecord
from monitor.records.outcome import Reason, RecordState
from monitor.records.perturbation import Perturbation, PerturbationSet, Strength, Substitution
from monitor.records.sampling import (
    UNCOUNTED,
    SampledRecord,
    SamplingDecision,
    SamplingEpoch,
    Stratum,
)
from monitor.records.scored import ScoredRecord
from monitor.records.severity import Calibration, Normalizer, Severity
from monitor.records.summaries import Summary, SummaryTask

__all__ = [
    "UNCOUNTED",
    "Attribution",
    "AttributionMethod",
    "Calibration",
    "CapturedRequest",
    "Explanation",
    "FactualScore",
    "FinishedRecord",
    "FloatArray",
    "Granularity",
    "IncomingRecord",
    "Lease",
    "LeasedRecord",
    "Message",
    "MethodResult",
    "Normalizer",
    "NullRun",
    "Perturbation",
    "PerturbationScore",
    "PerturbationSet",
    "Reason",
    "RecordState",
    "SampledRecord",
    "SamplingDecision",
    "SamplingEpoch",
    "ScoredRecord",
    "Severity",
    "Stratum",
    "Strength",
    "Substitution",
    "Summary",
    "SummaryDistribution",
    "SummaryTask",
    "Support",
    "Transport",
    "UnsupportedFact",
]
