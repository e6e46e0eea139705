"""The overview: is anything wrong, in which series, and does the monitor itself see."""

from __future__ import annotations

from dataclasses import replace

from monitor.mixin import series_panels as scores
from monitor.mixin import verdict_panels as verdicts
from monitor.mixin.colours import NONE_IS_BAD, late
from monitor.mixin.dashboards import Dashboard, Row, series_variables
from monitor.mixin.installation import Installation
from monitor.mixin.lateness import UNSCORED_SECONDS, WAITING_SECONDS
from monitor.mixin.links import (
    BREACHES,
    FLEET,
    INCIDENT,
    RECORDS,
    ROW,
    SERVICE_OF_SERIES,
    dashboard_link,
    of_clicked,
)
from monitor.mixin.panel_kinds import stat, table, time_series
from monitor.mixin.panels import Link, Panel, Query, Unit
from monitor.mixin.selectors import of_dashboard
from monitor.mixin.series_panels import by_series
from monitor.telemetry import STRATUM


def dashboard(where: Installation) -> Dashboard:
    """The dashboard `hss-fleet`."""
    return Dashboard(
        uid=FLEET,
        title="HSS / Fleet",
        description="All services that are watched: breaches, drift, severity and support.",
        variables=series_variables(where.public_url),
        rows=(
            Row(
                title="Now",
                panels=(
                    verdicts.open_breaches(),
                    verdicts.drifted_signals(),
                    verdicts.evaluator_age(),
                    _scored(),
                    _waiting(),
                    _sidecars(),
                ),
            ),
            Row(
                title="Severity and support",
                panels=(
                    scores.severity(),
                    scores.support(),
                    scores.null_control(),
                    scores.window_records(),
                ),
            ),
            Row(
                title="Breaches and drift",
                panels=(_breaches(), verdicts.breach_timeline(), verdicts.drift_timeline()),
            ),
            Row(title="Traffic", panels=(_traffic(), scores.sampling_rate())),
        ),
    )


def _scored() -> Panel:
    return stat(
        "Scored in the last hour",
        "Records whose distances were measured.",
        Query(
            expr=f"sum(increase({of_dashboard('hss_records_scored_total')}[1h]))",
            legend="scored",
        ),
        unit=Unit.COUNT,
        links=(RECORDS,),
    )


def _waiting() -> Panel:
    return stat(
        "Oldest waiting record",
        "Age of the oldest record that waits to be scored.",
        Query(expr=f"max({of_dashboard('hss_queue_age_seconds')})", legend="age"),
        unit=Unit.SECONDS,
        steps=late(orange=WAITING_SECONDS, red=UNSCORED_SECONDS),
    )


def _sidecars() -> Panel:
    return stat(
        "Sidecars",
        "Replicas that Prometheus can scrape.",
        Query(expr=f"count({of_dashboard('hss_build_info')})", legend="sidecars"),
        unit=Unit.COUNT,
        steps=NONE_IS_BAD,
        empty="none",
    )


def _breaches() -> Panel:
    columns = {
        "threshold": Link(
            title="Breaches of this threshold",
            url=f"{BREACHES.url}?threshold=${{__value.text:percentencode}}",
        ),
        "service": dashboard_link(
            "Incident dashboard",
            INCIDENT,
            of_clicked(ROW, ("threshold", *STRATUM), variables=True),
        ),
    }
    return table(
        "Thresholds by series",
        "Every threshold that has an answer; 1 while its breach is open.",
        replace(
            by_series("hss_threshold_breach", "threshold", "severity"),
            legend="{{threshold}}",
            instant=True,
        ),
        unit=Unit.NONE,
        value="open",
        links=(BREACHES,),
        column_links=columns,
    )


def _traffic() -> Panel:
    return time_series(
        "Summarizations received",
        "Live traffic that the sidecars saw, sampled or not.",
        scores.received(),
        unit=Unit.PER_SECOND,
        low=0,
        data_links=(SERVICE_OF_SERIES,),
    )
