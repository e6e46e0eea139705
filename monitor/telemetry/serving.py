"""Of one front: burn rates of thresholds, outlets, jobs and processes."""

from __future__ import annotations

from monitor.telemetry.metric import STRATUM, Metric, counter

SERVING: tuple[Metric, ...] = (
    counter(
        "hss_threshold_weight_total",
        "Records with the signal of a share_above threshold, each weighted by 1/probability.",
        "threshold",
        *STRATUM,
    ),
    counter(
        "hss_threshold_exceeded_weight_total",
        "Those of hss_threshold_weight_total whose signal lies above the threshold's level.",
        "threshold",
        *STRATUM,
    ),
    counter(
        "hss_threshold_observed_total",
        "Records behind hss_threshold_weight_total, each counted once: how sure a share is.",
        "threshold",
        *STRATUM,
    ),
    counter(
        "hss_threshold_exceeded_total",
        "Records behind hss_threshold_exceeded_weight_total, each counted once.",
        "threshold",
        *STRATUM,
    ),
    counter(
        "hss_outlet_requests_total",
        "Requests to the webhook and to the endpoint of events: taken, retried later, or refused "
        "for good.",
        "outlet",
        "outcome",
    ),
    counter("hss_job_runs_total", "Runs of a scheduled job.", "task", "outcome"),
    counter("hss_scorer_restarts_total", "Scorer processes that died and were started again."),
    Metric(name="hss_scorers_running", kind="gauge", help="Scorer processes that are alive."),
    Metric(name="hss_build_info", kind="gauge", help="Always 1.", labels=("version",)),
    Metric(
        name="hss_evaluator_active",
        kind="gauge",
        help="1 on the replica whose evaluator judges at present, and which exports series "
        "computed from SQL, else 0.",
    ),
)
