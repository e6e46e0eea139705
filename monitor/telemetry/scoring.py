"""Of live traffic: how many records came in, what came out, and how long each stage took."""

from __future__ import annotations

from monitor.telemetry.metric import (
    DISTANCE_BUCKETS,
    SECONDS_BUCKETS,
    STRATUM,
    UNIT_BUCKETS,
    Metric,
    counter,
    histogram,
)

SCORING: tuple[Metric, ...] = (
    counter(
        "hss_records_received_total", "Summarizations seen in live traffic.", "service", "model"
    ),
    counter("hss_records_sampled_total", "Records queued for scoring.", "service", "model"),
    counter("hss_records_scored_total", "Records whose distances were measured.", *STRATUM),
    counter(
        "hss_records_skipped_total",
        "Records and traffic that were not scored, by reason; see the closed list of reasons.",
        "reason",
    ),
    counter("hss_records_failed_total", "Records given up after errors, by reason.", "reason"),
    counter("hss_replays_ignored_total", "Own replays that came back as traffic and were dropped."),
    counter("hss_ingest_rejected_total", "Requests that ingest refused, by HTTP status.", "status"),
    histogram("hss_score", "Hallucination Severity Score of a record.", UNIT_BUCKETS, *STRATUM),
    histogram(
        "hss_raw_distance",
        "Mean Wasserstein distance of a record's summaries under rewording.",
        DISTANCE_BUCKETS,
        *STRATUM,
    ),
    histogram(
        "hss_null_distance",
        "Mean Wasserstein distance of summaries of the unchanged document: serving noise.",
        DISTANCE_BUCKETS,
        *STRATUM,
    ),
    histogram(
        "hss_entity_support",
        "Share of a summary's named entities that its document holds.",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    histogram(
        "hss_number_support",
        "Share of a summary's numbers that its document holds.",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    histogram(
        "hss_content_word_precision",
        "Share of a summary's content words that its document holds.",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    histogram(
        "hss_summac",
        "Mean best entailment minus contradiction of a summary's sentences (SummaC), "
        "moved from [-1, 1] to [0, 1].",
        UNIT_BUCKETS,
        *STRATUM,
    ),
    histogram(
        "hss_factcc", "Probability that a summary is correct (FactCC).", UNIT_BUCKETS, *STRATUM
    ),
    *(
        histogram(
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
    histogram(
        "hss_stage_duration_seconds", "Time of one stage for one record.", SECONDS_BUCKETS, "stage"
    ),
    counter("hss_stage_done_total", "Records for which a stage gave a value.", "stage"),
    counter("hss_stage_no_data_total", "Records for which a stage had nothing to give.", "stage"),
    counter("hss_score_core_seconds_total", "CPU seconds that scorers spent on finished records."),
)
