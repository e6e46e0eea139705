"""Panels about the work itself: the queue, what is not scored, the stages and their cost."""

from __future__ import annotations

from monitor.mixin.links import RECORDS
from monitor.mixin.panel_kinds import time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import WAITING, rate_by, select

OF_JOB = {"job": '=~"$job"'}


def of_job(name: str, **exact: str) -> str:
    """Of all services: the sidecar is looked at as a whole here."""
    return select(name, OF_JOB, **exact)


def lines(
    title: str,
    description: str,
    expr: str,
    legend: str,
    *,
    unit: Unit = Unit.PER_SECOND,
    stacked: bool = False,
    high: float | None = None,
    width: int = 12,
) -> Panel:
    """Lines from 0 on, by a single query."""
    query = Query(expr=expr, legend=legend)
    return time_series(
        title, description, query, unit=unit, low=0, high=high, stacked=stacked, width=width
    )


def rates(
    title: str, description: str, name: str, label: str, *, stacked: bool = False, width: int = 12
) -> Panel:
    """How much a counter grows a second, by one of its labels."""
    expr, legend = rate_by(of_job(name), label), f"{{{{{label}}}}}"
    return lines(title, description, expr, legend, stacked=stacked, width=width)


def by_reason(outcome: str, description: str, *, width: int = 12) -> Panel:
    """Records that were `skipped` or `failed`, from the closed list of reasons."""
    title, name = f"{outcome.capitalize()}, by reason", f"hss_records_{outcome}_total"
    return rates(title, description, name, "reason", stacked=True, width=width)


def queue() -> Panel:
    waiting = select("hss_queue_records", OF_JOB | {"state": WAITING})
    return time_series(
        "Queue",
        "Records that wait (queued) or are being scored (leased).",
        Query(expr=f"max by (state) ({waiting})", legend="{{state}}"),
        unit=Unit.COUNT,
        low=0,
        stacked=True,
        links=(RECORDS,),
    )


def queue_age() -> Panel:
    return lines(
        "Age of the oldest waiting record",
        "Rises with the clock while nothing is scored.",
        f"max({of_job('hss_queue_age_seconds')})",
        "age",
        unit=Unit.SECONDS,
    )


def finished() -> Panel:
    return time_series(
        "Records by outcome",
        "Scored, skipped and failed records, and how many were sampled.",
        *(
            Query(expr=rate_by(of_job(f"hss_records_{what}_total")), legend=what)
            for what in ("sampled", "scored", "skipped", "failed")
        ),
        unit=Unit.PER_SECOND,
        low=0,
        links=(RECORDS,),
    )


def restarts() -> Panel:
    return lines(
        "Scorer restarts",
        "Scorer processes that died and were started again, an hour.",
        f"sum by (instance) (increase({of_job('hss_scorer_restarts_total')}[1h]))",
        "restarts {{instance}}",
        unit=Unit.COUNT,
    )


def skipped() -> Panel:
    return by_reason(
        "skipped", "Records and traffic that were not scored, from the closed list of reasons."
    )


def failed() -> Panel:
    return by_reason("failed", "Records given up after errors.")


def rejected() -> Panel:
    return rates(
        "Ingest refusals, by status",
        "Requests that ingest refused: 400 malformed, 401 without a token, 413 too large, 429 "
        "and 503 overloaded.",
        "hss_ingest_rejected_total",
        "status",
        stacked=True,
    )


def own() -> Panel:
    return lines(
        "Own replays that came back",
        "Re-summaries of the monitor that the service traced, too; they are dropped, not scored.",
        rate_by(of_job("hss_replays_ignored_total")),
        "ignored",
    )


def durations() -> Panel:
    buckets = of_job("hss_stage_duration_seconds_bucket")
    return time_series(
        "Stage durations",
        "Median and 95th percentile of the time that a stage takes for one record.",
        *(
            Query(
                expr=f"histogram_quantile({q}, {rate_by(buckets, 'stage', 'le')})",
                legend=f"{{{{stage}}}} {word}",
            )
            for q, word in (("0.5", "median"), ("0.95", "95 %"))
        ),
        unit=Unit.SECONDS,
        low=0,
    )


def core_seconds() -> Panel:
    return lines(
        "Core seconds a record",
        "CPU seconds that scorers spent on a finished record, over an hour.",
        f"sum(rate({of_job('hss_score_core_seconds_total')}[1h]))\n"
        f"/ sum(rate({of_job('hss_records_scored_total')}[1h]))",
        "core seconds",
        unit=Unit.SECONDS,
    )


def done() -> Panel:
    return rates(
        "Stages that gave a value",
        "Records for which a stage gave its value.",
        "hss_stage_done_total",
        "stage",
    )


def nothing() -> Panel:
    return rates(
        "Stages that had nothing to give",
        "Records for which a stage had no data, such as a summary without a number.",
        "hss_stage_no_data_total",
        "stage",
    )
