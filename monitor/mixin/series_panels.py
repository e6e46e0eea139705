"""Panels about the scores of series (service, model, category) that several dashboards show.

HSS never stands alone: it cannot see a model that invents the same thing each time, so the
support of entities and numbers stands beside it, and the null control, its serving noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from monitor.mixin.links import INCIDENT_OF_SERIES, RECORDS, RECORDS_OF_SERIES
from monitor.mixin.panel_kinds import time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import any_of, of_dashboard, rate_by
from monitor.telemetry import STRATUM

LEGEND = " ".join(f"{{{{{label}}}}}" for label in STRATUM)
"""Names a series in the legend."""

of_records = partial(time_series, links=(RECORDS,), data_links=(RECORDS_OF_SERIES,))
"""Lines that lead to the records behind them."""


def by_series(
    name: str,
    *labels: str,
    word: str = "",
    matchers: Mapping[str, str] | None = None,
    **exact: str,
) -> Query:
    """A gauge by `labels` and series; one value however many replicas exported it.

    >>> by_series("hss_drift_effect", "signal", word="moved").legend
    '{{signal}} moved {{service}} {{model}} {{category}}'
    """
    grouped = ", ".join((*labels, *STRATUM))
    parts = [*(f"{{{{{label}}}}}" for label in labels), word, LEGEND]
    return Query(
        expr=f"max by ({grouped}) ({of_dashboard(name, matchers, **exact)})",
        legend=" ".join(part for part in parts if part),
    )


def window_means(*signals: str) -> Query:
    """Weighted means over the window."""
    return by_series("hss_window_mean", "signal", matchers={"signal": any_of(signals)})


def received() -> Query:
    """Live traffic that the sidecars saw, sampled or not."""
    selector = of_dashboard("hss_records_received_total")
    return Query(expr=rate_by(selector, "service", "model"), legend="{{service}} {{model}}")


def severity(width: int = 12) -> Panel:
    return time_series(
        "Mean HSS",
        "Hallucination Severity Score, 0 to 1, weighted by the sampling, over the window. "
        "Read it with the support of entities and numbers: a model that invents the same thing "
        "each time has a low HSS.",
        replace(window_means("hss"), legend=f"HSS {LEGEND}"),
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
        window_means("entity_support", "number_support"),
        unit=Unit.SHARE,
        low=0,
        high=1,
        width=width,
        links=(RECORDS,),
        data_links=(RECORDS_OF_SERIES, INCIDENT_OF_SERIES),
    )


def null_control(width: int = 12) -> Panel:
    return of_records(
        "Distance under rewording and null control",
        "Mean Wasserstein distance of summaries of the reworded document (raw_distance), of the "
        "unchanged document (null_distance: the service's own noise), and their difference "
        "(excess). Where null_distance rises the service became less deterministic, and HSS "
        "rises with it.",
        window_means("raw_distance", "null_distance", "excess"),
        unit=Unit.NONE,
        width=width,
    )


def window_records() -> Panel:
    return time_series(
        "Records behind the means",
        "How many scored records of the window have an HSS. A mean of three records says little.",
        by_series("hss_window_records", signal="hss"),
        unit=Unit.COUNT,
        low=0,
        data_links=(RECORDS_OF_SERIES,),
    )


def sampling_rate() -> Panel:
    return time_series(
        "Sampling rate",
        "Share of a stratum's traffic that is scored in this epoch.",
        by_series("hss_sampling_rate_ratio"),
        unit=Unit.SHARE,
        low=0,
        high=1,
        data_links=(RECORDS_OF_SERIES,),
    )
