"""Computed from SQL: windows, drift, thresholds and breaches, as the evaluator last judged them."""

from __future__ import annotations

from monitor.telemetry.metric import STRATUM, Metric, gauge

JUDGING: tuple[Metric, ...] = (
    gauge("hss_window_mean", "Weighted mean of a signal over the window.", "signal", *STRATUM),
    gauge("hss_window_records", "Records behind hss_window_mean.", "signal", *STRATUM),
    gauge(
        "hss_drift_statistic",
        "PSI, KS or Wasserstein of the window against the reference; for edetector the logarithm "
        "of its evidence over that of its threshold, so that 1 is an alarm.",
        "statistic",
        "signal",
        *STRATUM,
    ),
    gauge(
        "hss_drift_p_value",
        "Block-permutation p-value of a drift statistic, corrected over all that are looked at.",
        "statistic",
        "signal",
        *STRATUM,
    ),
    gauge(
        "hss_drift_detected",
        "1 while a signal is drifted, 0 while it is not; absent while that is not known.",
        "signal",
        *STRATUM,
    ),
    gauge(
        "hss_drift_since_timestamp_seconds",
        "Estimated time of the change of a drifted signal, Unix time.",
        "signal",
        *STRATUM,
    ),
    gauge(
        "hss_drift_effect",
        "Current mean minus reference mean of a signal, in its own unit; of a length, of its rank "
        "among the reference records (0 to 1).",
        "signal",
        *STRATUM,
    ),
    gauge("hss_threshold", "Limit of a threshold, as it applies now.", "threshold", *STRATUM),
    gauge(
        "hss_threshold_value",
        "Windowed statistic that a threshold watches; absent with too few records.",
        "threshold",
        *STRATUM,
    ),
    gauge("hss_threshold_records", "Records behind hss_threshold_value.", "threshold", *STRATUM),
    gauge(
        "hss_threshold_breach",
        "1 while a breach of the threshold is open, else 0; absent before its first answer.",
        "threshold",
        "severity",
        *STRATUM,
    ),
    gauge("hss_breaches_open", "Open breaches, also those folded into one label set."),
    gauge(
        "hss_evaluation_timestamp_seconds",
        "When drift and thresholds were last judged, Unix time.",
    ),
)
