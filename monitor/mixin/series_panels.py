"""Panels about series (service, model, category) that several dashboards show.

HSS never stands alone: it cannot see a model that invents the same thing each time, so the
support of entities and numbers stands beside it, and the null control, its serving noise.
"""

from __future__ import annotations

from collections.abc import Mapping

from monitor.mixin.links import (
    BREACHES,
    BREACHES_OF_SERIES,
    DRIFT,
    DRIFT_OF_SERIES,
    INCIDENT_OF_SERIES,
    RECORDS,
    RECORDS_OF_SERIES,
)
from monitor.mixin.panel_kinds import stat, state_timeline, time_series
from monitor.mixin.panels import Panel, Query, Step, Unit
from monitor.mixin.selectors import of_dashboard

BY = "service, model, category"
LEGEND = "{{service}} {{model}} {{category}}"
YES_NO = {"0": ("no", "green"), "1": ("yes", "red")}


def window_mean(*signals: str) -> str:
    """Weighted means over the window; one value however many replicas exported it."""
    wanted = of_dashboard("hss_window_mean", {"signal": f'=~"{"|".join(signals)}"'})
    return f"max by (signal, {BY}) ({wanted})"


def severity(width: int = 12) -> Panel:
    return time_series(
        "Mean HSS",
        "Hallucination Severity Score, 0 to 1, weighted by the sampling, over the window. "
        "Read it with the support of entities and numbers: a model that invents the same thing "
        "each time has a low HSS.",
        Query(expr=window_mean("hss"), legend=f"HSS {LEGEND}"),
        unit=Unit.SHARE,
        low=0,
        high=1,
        width=width,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES, INCIDENT_OF_SERIES),
    )


def support(width: int = 12) -> Panel:
    return time_series(
        "Support of entities and numbers",
        "Share of a summary's named entities and numbers that its document holds. Low is bad, "
        "also where HSS is low.",
        Query(
            expr=window_mean("entity_support", "number_support"), legend=f"{{{{signal}}}} {LEGEND}"
        ),
        unit=Unit.SHARE,
        low=0,
        high=1,
        width=width,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES, INCIDENT_OF_SERIES),
    )


def null_control(width: int = 12) -> Panel:
    return time_series(
        "Distance under rewording and null control",
        "Mean Wasserstein distance of summaries of the reworded document (raw_distance), of the "
        "unchanged document (null_distance: the service's own noise), and their difference "
        "(excess). Where null_distance rises the service became less deterministic, and HSS "
        "rises with it.",
        Query(
            expr=window_mean("raw_distance", "null_distance", "excess"),
            legend=f"{{{{signal}}}} {LEGEND}",
        ),
        unit=Unit.NONE,
        width=width,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES,),
    )


def window_records(width: int = 12) -> Panel:
    return time_series(
        "Records behind the means",
        "How many scored records of the window have an HSS. A mean of three records says little.",
        Query(
            expr=f"max by ({BY}) ({of_dashboard('hss_window_records', signal='hss')})",
            legend=LEGEND,
        ),
        unit=Unit.COUNT,
        low=0,
        width=width,
        data_links=(RECORDS_OF_SERIES,),
    )


def breach_timeline(height: int = 8, matchers: Mapping[str, str] | None = None) -> Panel:
    return state_timeline(
        "Breaches",
        "When a breach of a threshold was open. It opens after the threshold was exceeded for "
        "hold_seconds and ends after calm_seconds on the good side.",
        Query(
            expr=f"max by (threshold, {BY}) ({of_dashboard('hss_threshold_breach', matchers)})",
            legend=f"{{{{threshold}}}} {LEGEND}",
        ),
        states=YES_NO,
        height=height,
        links=(BREACHES,),
        data_links=(BREACHES_OF_SERIES, INCIDENT_OF_SERIES),
    )


def drift_timeline(height: int = 8) -> Panel:
    return state_timeline(
        "Drift",
        "When a signal was drifted from its frozen reference. A gap: not known yet, as there are "
        "too few records or no reference.",
        Query(
            expr=f"max by (signal, {BY}) ({of_dashboard('hss_drift_detected')})",
            legend=f"{{{{signal}}}} {LEGEND}",
        ),
        states=YES_NO,
        height=height,
        links=(DRIFT,),
        data_links=(DRIFT_OF_SERIES, INCIDENT_OF_SERIES),
    )


def threshold_values(width: int = 12, matchers: Mapping[str, str] | None = None) -> Panel:
    return time_series(
        "Thresholds: value and limit",
        "The windowed statistic that a threshold watches, and its limit. The value is absent "
        "with too few records.",
        Query(
            expr=f"max by (threshold, {BY}) ({of_dashboard('hss_threshold_value', matchers)})",
            legend=f"{{{{threshold}}}} value {LEGEND}",
        ),
        Query(
            expr=f"max by (threshold, {BY}) ({of_dashboard('hss_threshold', matchers)})",
            legend=f"{{{{threshold}}}} limit {LEGEND}",
        ),
        unit=Unit.NONE,
        width=width,
        links=(BREACHES,),
        data_links=(BREACHES_OF_SERIES,),
    )


def threshold_records(width: int = 12, matchers: Mapping[str, str] | None = None) -> Panel:
    return time_series(
        "Records behind a threshold's value",
        "Below the threshold's min_records there is no value and no breach.",
        Query(
            expr=f"max by (threshold, {BY}) ({of_dashboard('hss_threshold_records', matchers)})",
            legend=f"{{{{threshold}}}} {LEGEND}",
        ),
        unit=Unit.COUNT,
        low=0,
        width=width,
        data_links=(RECORDS_OF_SERIES,),
    )


def burn_rates(width: int = 12) -> Panel:
    """Share of records over the level, in units of the budget."""
    over, all_ = (
        of_dashboard(name)
        for name in ("hss_threshold_exceeded_weight_total", "hss_threshold_weight_total")
    )
    by = f"threshold, {BY}"
    budget = f"max by ({by}) ({of_dashboard('hss_threshold')})"
    return time_series(
        "Burn rate of share thresholds",
        "Share of records over the level, weighted by the sampling, over the limit of that "
        "share. 1 uses up the budget exactly; the alerts HssBurnRateFast and HssBurnRateSlow "
        "compare a long with a short window.",
        *(
            Query(
                expr=f"sum by ({by}) (rate({over}[{window}]))\n"
                f"/ sum by ({by}) (rate({all_}[{window}]))\n"
                f"/ on ({by}) {budget}",
                legend=f"{{{{threshold}}}} {window} {LEGEND}",
            )
            for window in ("5m", "1h", "6h")
        ),
        unit=Unit.NONE,
        low=0,
        width=width,
        data_links=(RECORDS_OF_SERIES, BREACHES_OF_SERIES),
    )


def effects(width: int = 12) -> Panel:
    return time_series(
        "Effect: current minus reference mean",
        "How far each watched signal has moved, in its own unit (lengths in words).",
        Query(
            expr=f"max by (signal, {BY}) ({of_dashboard('hss_drift_effect')})",
            legend=f"{{{{signal}}}} {LEGEND}",
        ),
        unit=Unit.NONE,
        width=width,
        links=(DRIFT,),
        data_links=(DRIFT_OF_SERIES,),
    )


def evidence(width: int = 12) -> Panel:
    return time_series(
        "Evidence of the e-detector",
        "Logarithm of the evidence over that of its threshold: at 1 it raises the alarm that "
        "keeps the promise on false alarms of the whole installation.",
        Query(
            expr=f"max by (signal, {BY}) "
            f"({of_dashboard('hss_drift_statistic', statistic='edetector')})",
            legend=f"{{{{signal}}}} {LEGEND}",
        ),
        unit=Unit.NONE,
        width=width,
        links=(DRIFT,),
        data_links=(DRIFT_OF_SERIES,),
    )


def open_breaches(width: int = 4) -> Panel:
    return stat(
        "Open breaches",
        "Breaches of thresholds that are open now, over all series of the job.",
        Query(expr=f"max({of_dashboard('hss_breaches_open')})", legend="open breaches"),
        unit=Unit.COUNT,
        steps=(Step(value=None, colour="green"), Step(value=1, colour="red")),
        width=width,
        links=(BREACHES,),
    )


def drifted_signals(width: int = 4) -> Panel:
    return stat(
        "Drifted signals",
        "Signals of series that are drifted from their reference now.",
        Query(
            expr=f"sum(max by (signal, {BY}) ({of_dashboard('hss_drift_detected')}))",
            legend="drifted signals",
        ),
        unit=Unit.COUNT,
        steps=(Step(value=None, colour="green"), Step(value=1, colour="red")),
        width=width,
        links=(DRIFT,),
    )


def evaluator_age(width: int = 4) -> Panel:
    return stat(
        "Last evaluation",
        "How long ago drift and thresholds were judged. While nobody judges no breach can open: "
        "a quiet dashboard then means nothing.",
        Query(
            expr=f"time() - max({of_dashboard('hss_evaluation_timestamp_seconds')})",
            legend="since the last evaluation",
        ),
        unit=Unit.SECONDS,
        steps=(
            Step(value=None, colour="green"),
            Step(value=120, colour="orange"),
            Step(value=600, colour="red"),
        ),
        empty="never",
        width=width,
    )


def sampling_rate() -> Panel:
    return time_series(
        "Sampling rate",
        "Share of a stratum's traffic that is scored in this epoch.",
        Query(
            expr=f"max by ({BY}) ({of_dashboard('hss_sampling_rate_ratio')})",
            legend=LEGEND,
        ),
        unit=Unit.SHARE,
        low=0,
        high=1,
        data_links=(RECORDS_OF_SERIES,),
    )
