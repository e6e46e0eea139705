"""Panels about thresholds, breaches and drift of series that several dashboards show."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from monitor.mixin.colours import NONE_IS_GOOD, late
from monitor.mixin.lateness import EVALUATION_SECONDS
from monitor.mixin.links import (
    BREACHES,
    BREACHES_OF_SERIES,
    DRIFT,
    DRIFT_OF_SERIES,
    INCIDENT_OF_SERIES,
    RECORDS_OF_SERIES,
)
from monitor.mixin.panel_kinds import stat, state_timeline, time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import of_dashboard
from monitor.mixin.series_panels import LEGEND, by_series
from monitor.telemetry import STRATUM

YES_NO = {"0": ("no", "green"), "1": ("yes", "red")}
BY_THRESHOLD = ", ".join(("threshold", *STRATUM))

of_drift = partial(time_series, links=(DRIFT,), data_links=(DRIFT_OF_SERIES,))
"""Lines that lead to the verdicts on drift."""


def open_breaches(width: int = 4) -> Panel:
    return stat(
        "Open breaches",
        "Breaches of thresholds that are open now, over all series of the job.",
        Query(expr=f"max({of_dashboard('hss_breaches_open')})", legend="open breaches"),
        unit=Unit.COUNT,
        steps=NONE_IS_GOOD,
        width=width,
        links=(BREACHES,),
    )


def drifted_signals(width: int = 4) -> Panel:
    return stat(
        "Drifted signals",
        "Signals of series that are drifted from their reference now.",
        Query(
            expr=f"sum({by_series('hss_drift_detected', 'signal').expr})", legend="drifted signals"
        ),
        unit=Unit.COUNT,
        steps=NONE_IS_GOOD,
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
        steps=late(orange=EVALUATION_SECONDS // 5, red=EVALUATION_SECONDS),
        empty="never",
        width=width,
    )


def breach_timeline(height: int = 8, matchers: Mapping[str, str] | None = None) -> Panel:
    return state_timeline(
        "Breaches",
        "When a breach of a threshold was open. It opens after the threshold was exceeded for "
        "hold_seconds and ends after calm_seconds on the good side.",
        by_series("hss_threshold_breach", "threshold", matchers=matchers),
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
        by_series("hss_drift_detected", "signal"),
        states=YES_NO,
        height=height,
        links=(DRIFT,),
        data_links=(DRIFT_OF_SERIES, INCIDENT_OF_SERIES),
    )


def threshold_values(matchers: Mapping[str, str] | None = None) -> Panel:
    return time_series(
        "Thresholds: value and limit",
        "The windowed statistic that a threshold watches, and its limit. The value is absent "
        "with too few records.",
        by_series("hss_threshold_value", "threshold", word="value", matchers=matchers),
        by_series("hss_threshold", "threshold", word="limit", matchers=matchers),
        unit=Unit.NONE,
        links=(BREACHES,),
        data_links=(BREACHES_OF_SERIES,),
    )


def threshold_records(matchers: Mapping[str, str] | None = None) -> Panel:
    return time_series(
        "Records behind a threshold's value",
        "Below the threshold's min_records there is no value and no breach.",
        by_series("hss_threshold_records", "threshold", matchers=matchers),
        unit=Unit.COUNT,
        low=0,
        data_links=(RECORDS_OF_SERIES,),
    )


def weight_rates(window: str) -> tuple[str, str]:
    """Of a `share_above` threshold: what lies above the level, and all, both weighted by 1/π."""
    above, all_ = (
        f"sum by ({BY_THRESHOLD}) (rate({of_dashboard(name)}[{window}]))"
        for name in ("hss_threshold_exceeded_weight_total", "hss_threshold_weight_total")
    )
    return above, all_


def burn_rates() -> Panel:
    """Share of records over the level, in units of the budget."""
    budget = by_series("hss_threshold", "threshold").expr
    queries = []
    for window in ("5m", "1h", "6h"):
        above, all_ = weight_rates(window)
        queries.append(
            Query(
                expr=f"{above}\n/ {all_}\n/ on ({BY_THRESHOLD}) {budget}",
                legend=f"{{{{threshold}}}} {window} {LEGEND}",
            )
        )
    return time_series(
        "Burn rate of share thresholds",
        "Share of records over the level, weighted by the sampling, over the limit of that "
        "share. 1 uses up the budget exactly; the alerts HssBurnRateFast and HssBurnRateSlow "
        "compare a long with a short window. Not for thresholds with comparison below: of those "
        "records more is better, and the alerts take the others.",
        *queries,
        unit=Unit.NONE,
        low=0,
        data_links=(RECORDS_OF_SERIES, BREACHES_OF_SERIES),
    )


def effects() -> Panel:
    return of_drift(
        "Effect: current minus reference mean",
        "How far each watched signal has moved, in its own unit (lengths in ranks among those of "
        "the reference, 0 to 1).",
        by_series("hss_drift_effect", "signal"),
        unit=Unit.NONE,
    )


def evidence() -> Panel:
    return of_drift(
        "Evidence of the e-detector",
        "Logarithm of the evidence over that of its threshold: at 1 it raises the alarm that "
        "keeps the promise on false alarms of the whole installation.",
        by_series("hss_drift_statistic", "signal", statistic="edetector"),
        unit=Unit.NONE,
    )
