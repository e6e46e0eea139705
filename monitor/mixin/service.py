"""One service: everything that is measured of it, beside each other."""

from __future__ import annotations

from monitor.mixin import series_panels as shared
from monitor.mixin.dashboards import Dashboard, Row, series_variables
from monitor.mixin.installation import Installation
from monitor.mixin.links import (
    BREACHES_OF_SERIES,
    DRIFT,
    DRIFT_OF_SERIES,
    RECORDS,
    RECORDS_OF_SERIES,
    SERVICE,
)
from monitor.mixin.panel_kinds import time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import of_dashboard
from monitor.mixin.series_panels import BY, LEGEND

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
                    shared.open_breaches(8),
                    shared.drifted_signals(8),
                    shared.evaluator_age(8),
                ),
            ),
            Row(
                title="Severity beside support",
                panels=(
                    shared.severity(),
                    shared.support(),
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
                    shared.null_control(),
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
                    shared.drift_timeline(),
                    shared.evidence(),
                    shared.effects(),
                    _statistics(),
                    _p_values(),
                ),
            ),
            Row(
                title="Thresholds",
                panels=(
                    shared.breach_timeline(),
                    shared.threshold_values(),
                    shared.threshold_records(),
                    shared.burn_rates(),
                    _share_over(),
                ),
            ),
            Row(title="Sampling", panels=(_sampled(), shared.sampling_rate())),
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
    return time_series(
        title,
        description,
        *(
            Query(
                expr=f"histogram_quantile({q}, sum by (service, model, le) "
                f"(rate({buckets}[$__rate_interval])))",
                legend=f"{word} {{{{service}}}} {{{{model}}}}",
                exemplar=True,
            )
            for q, word in quantiles
        ),
        unit=unit,
        low=0,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES,),
    )


def _scored() -> Panel:
    return time_series(
        "Records scored",
        "Records an hour behind the quantiles.",
        Query(
            expr=f"3600 * sum by ({BY}) "
            f"(rate({of_dashboard('hss_records_scored_total')}[$__rate_interval]))",
            legend=LEGEND,
        ),
        unit=Unit.COUNT,
        low=0,
        stacked=True,
        data_links=(RECORDS_OF_SERIES,),
    )


def _checks() -> Panel:
    return time_series(
        "SummaC and FactCC",
        "The paper's comparators, over the window: SummaC from -1 to 1, FactCC from 0 to 1. "
        "Empty where their models are not configured.",
        Query(expr=shared.window_mean("summac", "factcc"), legend=f"{{{{signal}}}} {LEGEND}"),
        unit=Unit.NONE,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES,),
    )


def _instability() -> Panel:
    signals = tuple(f"{name}_instability" for name in ("shap", "lime", "smile", "attention"))
    return time_series(
        "Attribution instability",
        "How far the attributions move under rewording, 0 to 1, of the explained records, over "
        "the window. SHAP unless other methods are configured.",
        Query(expr=shared.window_mean(*signals), legend=f"{{{{signal}}}} {LEGEND}"),
        unit=Unit.SHARE,
        low=0,
        high=1,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES,),
    )


def _explained() -> Panel:
    return time_series(
        "Records explained by SHAP",
        "Records of the window that have attributions; only a share of the records gets them.",
        Query(
            expr=f"max by ({BY}) ({of_dashboard('hss_window_records', signal='shap_instability')})",
            legend=LEGEND,
        ),
        unit=Unit.COUNT,
        low=0,
        data_links=(RECORDS_OF_SERIES,),
    )


def _statistics() -> Panel:
    tests = of_dashboard("hss_drift_statistic", {"statistic": '!="edetector"'})
    return time_series(
        "Window against reference",
        "PSI, Kolmogorov-Smirnov and Wasserstein statistics of the current window. They have no "
        "limits of their own: look at their p-values.",
        Query(
            expr=f"max by (statistic, signal, {BY}) ({tests})",
            legend=f"{{{{statistic}}}} {{{{signal}}}} {LEGEND}",
        ),
        unit=Unit.NONE,
        links=(DRIFT,),
        data_links=(DRIFT_OF_SERIES,),
    )


def _p_values() -> Panel:
    return time_series(
        "p-values",
        "Block-permutation p-values, corrected over all that are looked at. Absent where the "
        "records are too much correlated for one.",
        Query(
            expr=f"max by (statistic, signal, {BY}) ({of_dashboard('hss_drift_p_value')})",
            legend=f"{{{{statistic}}}} {{{{signal}}}} {LEGEND}",
        ),
        unit=Unit.NONE,
        low=0,
        high=1,
        links=(DRIFT,),
        data_links=(DRIFT_OF_SERIES,),
    )


def _share_over() -> Panel:
    over = of_dashboard("hss_threshold_exceeded_weight_total")
    all_ = of_dashboard("hss_threshold_weight_total")
    by = f"threshold, {BY}"
    return time_series(
        "Share of records over the level",
        "Of share_above thresholds, weighted by the sampling, with the share that is allowed.",
        Query(
            expr=f"sum by ({by}) (rate({over}[1h])) / sum by ({by}) (rate({all_}[1h]))",
            legend=f"{{{{threshold}}}} share {LEGEND}",
        ),
        Query(
            expr=f"max by ({by}) ({of_dashboard('hss_threshold')})\n"
            f"and on ({by}) sum by ({by}) ({all_})",
            legend=f"{{{{threshold}}}} limit {LEGEND}",
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
                expr="sum by (service, model) "
                f"(rate({of_dashboard(f'hss_records_{what}_total')}[$__rate_interval]))",
                legend=f"{what} {{{{service}}}} {{{{model}}}}",
            )
            for what in ("received", "sampled")
        ),
        unit=Unit.PER_SECOND,
        low=0,
        links=(RECORDS,),
    )
