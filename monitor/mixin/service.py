"""One service: everything that is measured of it, beside each other."""

from __future__ import annotations

from dataclasses import replace

from monitor.mixin import series_panels as scores
from monitor.mixin import verdict_panels as verdicts
from monitor.mixin.dashboards import Dashboard, Row, series_variables
from monitor.mixin.installation import Installation
from monitor.mixin.links import BREACHES_OF_SERIES, RECORDS, RECORDS_OF_SERIES, SERVICE
from monitor.mixin.panel_kinds import time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import of_dashboard, rate_by
from monitor.mixin.series_panels import LEGEND, by_series, of_records, window_means
from monitor.mixin.verdict_panels import BY_THRESHOLD, of_drift, weight_rates
from monitor.records import AttributionMethod
from monitor.telemetry import STRATUM

QUANTILES = (("0.5", "median"), ("0.9", "90 %"), ("0.99", "99 %"))


def dashboard(where: Installation) -> Dashboard:
    """The dashboard `hss-service`."""
    return Dashboard(
        uid=SERVICE,
        title="HSS / Service",
        description="One service: severity, support, explanations, drift and thresholds.",
        variables=series_variables(where.public_url),
        rows=(
            Row(
                title="Now",
                panels=(
                    verdicts.open_breaches(8),
                    verdicts.drifted_signals(8),
                    verdicts.evaluator_age(8),
                ),
            ),
            Row(
                title="Severity beside support",
                panels=(
                    scores.severity(),
                    scores.support(),
                    _quantiles(
                        "HSS of records",
                        "Quantiles over records, not weighted by the sampling. A dot is one "
                        "record: click it to open its page.",
                        "hss_score",
                        Unit.SHARE,
                    ),
                    _scored(),
                    _quantiles(
                        "Entity support of records",
                        "Quantiles over records; the low end is the bad one. A dot is a record.",
                        "hss_entity_support",
                        Unit.SHARE,
                        quantiles=(("0.01", "1 %"), ("0.1", "10 %"), ("0.5", "median")),
                    ),
                    _checks(),
                ),
            ),
            Row(
                title="What is behind HSS",
                panels=(
                    scores.null_control(),
                    _quantiles(
                        "Raw distance of records",
                        "Mean Wasserstein distance under rewording, 0 to 2, before it is "
                        "normalized to HSS. A dot is a record.",
                        "hss_raw_distance",
                        Unit.NONE,
                    ),
                    _instability(),
                    _explained(),
                ),
            ),
            Row(
                title="Drift from the frozen reference",
                panels=(
                    verdicts.drift_timeline(),
                    verdicts.evidence(),
                    verdicts.effects(),
                    _statistics(),
                    _p_values(),
                ),
            ),
            Row(
                title="Thresholds",
                panels=(
                    verdicts.breach_timeline(),
                    verdicts.threshold_values(),
                    verdicts.threshold_records(),
                    verdicts.burn_rates(),
                    _share_over(),
                ),
            ),
            Row(title="Sampling", panels=(_sampled(), scores.sampling_rate())),
        ),
    )


def _quantiles(
    title: str,
    description: str,
    name: str,
    unit: Unit,
    *,
    quantiles: tuple[tuple[str, str], ...] = QUANTILES,
) -> Panel:
    buckets = of_dashboard(f"{name}_bucket")
    return of_records(
        title,
        description,
        *(
            Query(
                expr=f"histogram_quantile({q}, {rate_by(buckets, 'service', 'model', 'le')})",
                legend=f"{word} {{{{service}}}} {{{{model}}}}",
                exemplar=True,
            )
            for q, word in quantiles
        ),
        unit=unit,
        low=0,
    )


def _scored() -> Panel:
    scored = rate_by(of_dashboard("hss_records_scored_total"), *STRATUM)
    return time_series(
        "Records scored",
        "Records an hour behind the quantiles.",
        Query(expr=f"3600 * {scored}", legend=LEGEND),
        unit=Unit.COUNT,
        low=0,
        stacked=True,
        data_links=(RECORDS_OF_SERIES,),
    )


def _checks() -> Panel:
    return of_records(
        "SummaC and FactCC",
        "The paper's comparators, over the window: SummaC from -1 to 1, FactCC from 0 to 1. "
        "Empty where their models are not configured.",
        window_means("summac", "factcc"),
        unit=Unit.NONE,
    )


def _instability() -> Panel:
    return of_records(
        "Attribution instability",
        "How far the attributions move under rewording, 0 to 1, of the explained records, over "
        "the window, and how far two explanations of the same document lie apart: an instability "
        "at its noise floor says nothing. SHAP unless other methods are configured.",
        window_means(
            *(f"{method}_instability" for method in AttributionMethod),
            *(f"{method}_noise_floor" for method in AttributionMethod if method != "attention"),
        ),
        unit=Unit.SHARE,
        low=0,
        high=1,
    )


def _explained() -> Panel:
    return time_series(
        "Records explained by SHAP",
        "Records of the window that have attributions; only a share of the records gets them.",
        by_series("hss_window_records", signal="shap_instability"),
        unit=Unit.COUNT,
        low=0,
        data_links=(RECORDS_OF_SERIES,),
    )


def _statistics() -> Panel:
    return of_drift(
        "Window against reference",
        "PSI, Kolmogorov-Smirnov and Wasserstein statistics of the current window. They have no "
        "limits of their own: look at their p-values.",
        by_series(
            "hss_drift_statistic",
            "statistic",
            "signal",
            matchers={"statistic": '!="edetector"'},
        ),
        unit=Unit.NONE,
    )


def _p_values() -> Panel:
    return of_drift(
        "p-values",
        "Block-permutation p-values, corrected over all that are looked at. Absent where the "
        "records are too much correlated for one.",
        by_series("hss_drift_p_value", "statistic", "signal"),
        unit=Unit.NONE,
        low=0,
        high=1,
    )


def _share_over() -> Panel:
    above, all_ = weight_rates("1h")
    limit = by_series("hss_threshold", "threshold", word="limit")
    counted = of_dashboard("hss_threshold_weight_total")
    return time_series(
        "Share of records over the level",
        "Of share_above thresholds, weighted by the sampling, with the share that is allowed.",
        Query(expr=f"{above} / {all_}", legend=f"{{{{threshold}}}} share {LEGEND}"),
        # Every threshold has a limit; those of a share have weights, too.
        replace(
            limit,
            expr=f"{limit.expr}\nand on ({BY_THRESHOLD}) sum by ({BY_THRESHOLD}) ({counted})",
        ),
        unit=Unit.SHARE,
        low=0,
        high=1,
        data_links=(RECORDS_OF_SERIES, BREACHES_OF_SERIES),
    )


def _sampled() -> Panel:
    return time_series(
        "Received and sampled",
        "Live traffic, and what of it was queued for scoring.",
        *(
            Query(
                expr=rate_by(of_dashboard(f"hss_records_{what}_total"), "service", "model"),
                legend=f"{what} {{{{service}}}} {{{{model}}}}",
            )
            for what in ("received", "sampled")
        ),
        unit=Unit.PER_SECOND,
        low=0,
        links=(RECORDS,),
    )
