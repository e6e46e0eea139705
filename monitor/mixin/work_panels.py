"""Panels about the work itself: the queue, what is not scored, the stages and their cost."""

from __future__ import annotations

from monitor.mixin.links import RECORDS
from monitor.mixin.panel_kinds import time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import WAITING, select

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
) -> Panel:
    query = Query(expr=expr, legend=legend)
    return time_series(title, description, query, unit=unit, low=0, high=high, stacked=stacked)


def rate_by(name: str, by: str) -> str:
    return f"sum by ({by}) (rate({of_job(name)}[$__rate_interval]))"


def queue() -> Panel:
    waiting = select("hss_queue_records", OF_JOB | {"state": WAITING})
    return time_series(
        "Queue",
        "Records that wait (queued) or are being scored (leased).",
        Query(
            expr=f"max by (state) ({waiting})",
            legend="{{state}}",
        ),
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
            Query(
                expr=f"sum(rate({of_job(f'hss_records_{what}_total')}[$__rate_interval]))",
                legend=what,
            )
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
    return lines(
        "Skipped, by reason",
        "Records and traffic that were not scored, from the closed list of reasons.",
        rate_by("hss_records_skipped_total", "reason"),
        "{{reason}}",
        stacked=True,
    )


def failed() -> Panel:
    return lines(
        "Failed, by reason",
        "Records given up after errors.",
        rate_by("hss_records_failed_total", "reason"),
        "{{reason}}",
        stacked=True,
    )


def rejected() -> Panel:
    return lines(
        "Ingest refusals, by status",
        "Requests that ingest refused: 400 malformed, 401 without a token, 413 too large, 429 "
        "and 503 overloaded.",
        rate_by("hss_ingest_rejected_total", "status"),
        "{{status}}",
        stacked=True,
    )


def own() -> Panel:
    return lines(
        "Own replays that came back",
        "Re-summaries of the monitor that the service traced, too; they are dropped, not scored.",
        f"sum(rate({of_job('hss_replays_ignored_total')}[$__rate_interval]))",
        "ignored",
    )


def durations() -> Panel:
    buckets = of_job("hss_stage_duration_seconds_bucket")
    return time_series(
        "Stage durations",
        "Median and 95th percentile of the time that a stage takes for one record.",
        *(
            Query(
                expr=f"histogram_quantile({q}, "
                f"sum by (stage, le) (rate({buckets}[$__rate_interval])))",
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
    return lines(
        "Stages that gave a value",
        "Records for which a stage gave its value.",
        rate_by("hss_stage_done_total", "stage"),
        "{{stage}}",
    )


def nothing() -> Panel:
    return lines(
        "Stages that had nothing to give",
        "Records for which a stage had no data, such as a summary without a number.",
        rate_by("hss_stage_no_data_total", "stage"),
        "{{stage}}",
    )
