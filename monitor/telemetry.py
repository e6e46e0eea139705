"""The registry of every metric that hss-monitor exposes.

One list declares name, kind, help, labels and buckets; `Telemetry` makes the counters and
histograms of it, `monitor.exporter` the gauges that are computed from SQL. Tests hold emitted
and declared metrics to each other, and every query of dashboards and alerts to this list.

Labels take values from configuration only: see `labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from monitor.labels import LabelPolicy

UNIT_BUCKETS = tuple(n / 20 for n in range(1, 21))
"""For values in [0, 1]: steps of 0.05 keep a quantile's error under 0.05."""
DISTANCE_BUCKETS = (
    0.02,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    1.0,
    1.2,
    2.0,
)
SECONDS_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

STRATUM = ("service", "model", "category")


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """The declaration of one metric."""

    name: str
    kind: Literal["counter", "histogram", "gauge"]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    source: Literal["front", "sql"] = "front"
    """`front`: per record, by the front that took it in, so sums over replicas are right.
    `sql`: computed from the database, exported by the active evaluator only."""


def _counter(name: str, help_: str, *labels: str) -> Metric:
    return Metric(name=name, kind="counter", help=help_, labels=labels)


def _histogram(name: str, help_: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(name=name, kind="histogram", help=help_, labels=labels, buckets=buckets)


def _gauge(name: str, help_: str, *labels: str) -> Metric:
    return Metric(name=name, kind="gauge", help=help_, labels=labels, source="sql")


METRICS: tuple[Metric, ...] = (
    _counter(
        "hss_records_received_total", "Summarizations seen in live traffic.", "service", "model"
    ),
    _counter("hss_records_sampled_total", "Records queued for scoring.", "service", "model"),
    _counter("hss_records_scored_total", "Records whose distances were measured.", *STRATUM),
    _counter(
        "hss_records_skipped_total",
        "Records and traffic that were not scored, by reason; see the closed list of reasons.",
        "reason",
    ),
    _counter("hss_records_failed_total", "Records given up after errors, by reason.", "reason"),
    _counter(
        "hss_replays_ignored_total", "Own replays that came back as traffic and were dropped."
    ),
    _counter(
        "hss_ingest_rejected_total", "Requests that ingest refused, by HTTP status.", "status"
    ),
    _histogram("hss_score", "Hallucination Severity Score of a record.", UNIT_BUCKETS, *STRATUM),
    _histogram(
        "hss_raw_distance",
        "Mean Wasserstein distance of a record's summaries under rewording.",
        DISTANCE_BUCKETS,
        *STRATUM,
    ),
    _histogram(
        "hss_null_distance",
        "Mean Wasserstein distance of summaries of the unchanged document: serving noise.",
        DISTANCE_BUCKETS,
        *STRATUM,
    ),
    _histogram(
        "hss_entity_support",
        "Share of a summary's named entities that its document holds.",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    _histogram(
        "hss_number_support",
        "Share of a summary's numbers that its document holds.",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    _histogram(
        "hss_content_word_precision",
        "Share of a summary's content words that its document holds.",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    _histogram(
        "hss_summac",
        "Mean best entailment minus contradiction of a summary's sentences (SummaC), "
        "moved from [-1, 1] to [0, 1].",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    _histogram(
        "hss_factcc", "Probability that a summary is correct (FactCC).", UNIT_BUCKETS, *STRATUM
    ),
    *(
        _histogram(
            f"hss_{method}_instability",
            f"How far {title} attributions move under rewording, of the explained records.",
            UNIT_BUCKETS,
            *STRATUM,
        )
        for method, title in (
            ("shap", "SHAP"),
            ("lime", "LIME"),
            ("smile", "SMILE"),
            ("attention", "attention"),
        )
    ),
    _histogram(
        "hss_stage_duration_seconds", "Time of one stage for one record.", SECONDS_BUCKETS, "stage"
    ),
    _counter("hss_stage_done_total", "Records for which a stage gave a value.", "stage"),
    _counter("hss_stage_no_data_total", "Records for which a stage had nothing to give.", "stage"),
    _counter("hss_score_core_seconds_total", "CPU seconds that scorers spent on finished records."),
    _counter(
        "hss_threshold_weight_total",
        "Records with the signal of a share_above threshold, each weighted by 1/probability.",
        "threshold",
        *STRATUM,
    ),
    _counter(
        "hss_threshold_exceeded_weight_total",
        "Those of hss_threshold_weight_total whose signal lies above the threshold's level.",
        "threshold",
        *STRATUM,
    ),
    _counter(
        "hss_threshold_observed_total",
        "Records behind hss_threshold_weight_total, each counted once: how sure a share is.",
        "threshold",
        *STRATUM,
    ),
    _counter(
        "hss_threshold_exceeded_total",
        "Records behind hss_threshold_exceeded_weight_total, each counted once.",
        "threshold",
        *STRATUM,
    ),
    _counter(
        "hss_outlet_requests_total",
        "Requests to the webhook and to the endpoint of events: taken, retried later, or refused "
        "for good.",
        "outlet",
        "outcome",
    ),
    _counter("hss_job_runs_total", "Runs of a scheduled job.", "task", "outcome"),
    _counter("hss_scorer_restarts_total", "Scorer processes that died and were started again."),
    Metric(name="hss_scorers_running", kind="gauge", help="Scorer processes that are alive."),
    Metric(name="hss_build_info", kind="gauge", help="Always 1.", labels=("version",)),
    Metric(
        name="hss_evaluator_active",
        kind="gauge",
        help="1 on the replica whose evaluator judges at present, and which exports series "
        "computed from SQL, else 0.",
    ),
    _gauge("hss_window_mean", "Weighted mean of a signal over the window.", "signal", *STRATUM),
    _gauge("hss_window_records", "Records behind hss_window_mean.", "signal", *STRATUM),
    _gauge(
        "hss_drift_statistic",
        "PSI, KS or Wasserstein of the window against the reference; for edetector the logarithm "
        "of its evidence over that of its threshold, so that 1 is an alarm.",
        "statistic",
        "signal",
        *STRATUM,
    ),
    _gauge(
        "hss_drift_p_value",
        "Block-permutation p-value of a drift statistic, corrected over all that are looked at.",
        "statistic",
        "signal",
        *STRATUM,
    ),
    _gauge(
        "hss_drift_detected",
        "1 while a signal is drifted, 0 while it is not; absent while that is not known.",
        "signal",
        *STRATUM,
    ),
    _gauge(
        "hss_drift_since_timestamp_seconds",
        "Estimated time of the change of a drifted signal, Unix time.",
        "signal",
        *STRATUM,
    ),
    _gauge(
        "hss_drift_effect",
        "Current mean minus reference mean of a signal, in its own unit; of a length, of its rank "
        "among the reference records (0 to 1).",
        "signal",
        *STRATUM,
    ),
    _gauge("hss_threshold", "Limit of a threshold, as it applies now.", "threshold", *STRATUM),
    _gauge(
        "hss_threshold_value",
        "Windowed statistic that a threshold watches; absent with too few records.",
        "threshold",
        *STRATUM,
    ),
    _gauge("hss_threshold_records", "Records behind hss_threshold_value.", "threshold", *STRATUM),
    _gauge(
        "hss_threshold_breach",
        "1 while a breach of the threshold is open, else 0; absent before its first answer.",
        "threshold",
        "severity",
        *STRATUM,
    ),
    _gauge("hss_breaches_open", "Open breaches, also those folded into one label set."),
    _gauge(
        "hss_evaluation_timestamp_seconds",
        "When drift and thresholds were last judged, Unix time.",
    ),
    _gauge("hss_normalizer", "M_c of the active calibration.", "category", "provisional"),
    _gauge("hss_queue_records", "Records by state.", "state"),
    _gauge("hss_queue_age_seconds", "Age of the oldest record that waits to be scored."),
    _gauge("hss_last_score_timestamp_seconds", "When a record was last scored, Unix time."),
    _gauge("hss_budget_remaining_ratio", "Share of this epoch's scoring budget that is left."),
    _gauge("hss_sampling_rate_ratio", "Sampling rate of a stratum in this epoch.", *STRATUM),
)
BY_NAME = {metric.name: metric for metric in METRICS}


class Telemetry:
    """The counters, histograms and process gauges of one front, on an injected registry."""

    def __init__(self, registry: CollectorRegistry, labels: LabelPolicy) -> None:
        self.registry = registry
        self.labels = labels
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._gauges: dict[str, Gauge] = {}
        for metric in METRICS:
            if metric.source == "sql":
                continue
            if metric.kind == "counter":
                self._counters[metric.name] = Counter(
                    metric.name, metric.help, metric.labels, registry=registry
                )
            elif metric.kind == "histogram":
                self._histograms[metric.name] = Histogram(
                    metric.name,
                    metric.help,
                    metric.labels,
                    buckets=metric.buckets,
                    registry=registry,
                )
            else:
                self._gauges[metric.name] = Gauge(
                    metric.name, metric.help, metric.labels, registry=registry
                )

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Add to a declared counter; a name that is not declared raises KeyError."""
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def observe(
        self, name: str, value: float, *labels: str, exemplar: dict[str, str] | None = None
    ) -> None:
        """Add a value to a declared histogram."""
        histogram = self._histograms[name]
        (histogram.labels(*labels) if labels else histogram).observe(value, exemplar=exemplar)

    def gauge(self, name: str, value: float, *labels: str) -> None:
        """Set a declared process gauge."""
        gauge = self._gauges[name]
        (gauge.labels(*labels) if labels else gauge).set(value)
