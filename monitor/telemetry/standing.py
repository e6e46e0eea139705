"""Computed from SQL: the calibration, the queue and the sampling, as they stand."""

from __future__ import annotations

from monitor.telemetry.metric import STRATUM, Metric, gauge

STANDING: tuple[Metric, ...] = (
    gauge("hss_normalizer", "M_c of the active calibration.", "category", "provisional"),
    gauge("hss_queue_records", "Records by state.", "state"),
    gauge("hss_queue_age_seconds", "Age of the oldest record that waits to be scored."),
    gauge("hss_last_score_timestamp_seconds", "When a record was last scored, Unix time."),
    gauge("hss_budget_remaining_ratio", "Share of this epoch's scoring budget that is left."),
    gauge("hss_sampling_rate_ratio", "Sampling rate of a stratum in this epoch.", *STRATUM),
)
