"""One incident: what a page links to. What changed, since when, in which records."""

from __future__ import annotations

from dataclasses import replace

from monitor.mixin import series_panels as scores
from monitor.mixin import verdict_panels as verdicts
from monitor.mixin import work_panels as work
from monitor.mixin.colours import NONE_IS_GOOD
from monitor.mixin.dashboards import Dashboard, Row, label_variable, series_variables
from monitor.mixin.installation import Installation
from monitor.mixin.links import BREACHES, DRIFT, INCIDENT, RECORDS
from monitor.mixin.panel_kinds import stat, table, text, time_series
from monitor.mixin.panels import Panel, Query, Unit
from monitor.mixin.selectors import of_dashboard
from monitor.mixin.series_panels import by_series

_THRESHOLD = {"threshold": '=~"$threshold"'}
_FIRST_COMMANDS = """\
1. Which breach is it, and which records are behind it?
   `hss-monitor breaches list --service "${service:text}" --since 2h`, then
   `hss-monitor breaches show ID`, or [the page of breaches](${public_url}/breaches)
2. Since when, and which signals moved?
   `hss-monitor drift show --service "${service:text}"`, or [the page of drift](${public_url}/drift)
3. What do the worst records look like?
   `hss-monitor records list --service "${service:text}" --since 2h --min-hss 0.8`, then
   `hss-monitor records show ID`, or [the page of records](${public_url}/records)

Say that you look: `hss-monitor breaches ack ID --name YOU --note "…"`.
"""


def dashboard(where: Installation) -> Dashboard:
    """The dashboard `hss-incident`."""
    return Dashboard(
        uid=INCIDENT,
        title="HSS / Incident",
        description="One breach or drift: what changed, since when, and how sure that is.",
        since="now-6h",
        variables=(
            *series_variables(where.public_url),
            label_variable("threshold", "Threshold", 'hss_threshold{job=~"$job"}'),
        ),
        rows=(
            Row(
                title="What is open",
                panels=(
                    _open(),
                    _value_now(),
                    _records_now(),
                    _drift_began(),
                    verdicts.drifted_signals(),
                    verdicts.evaluator_age(),
                    text("First steps", "What to look at first.", _FIRST_COMMANDS, height=8),
                ),
            ),
            Row(
                title="Since when",
                panels=(
                    verdicts.breach_timeline(6, _THRESHOLD),
                    verdicts.threshold_values(_THRESHOLD),
                    verdicts.threshold_records(_THRESHOLD),
                    verdicts.drift_timeline(6),
                ),
            ),
            Row(
                title="Severity beside support and noise",
                panels=(scores.severity(8), scores.support(8), scores.null_control(8)),
            ),
            Row(
                title="Which signals moved",
                panels=(verdicts.evidence(), verdicts.effects(), _since(), verdicts.burn_rates()),
            ),
            Row(title="Is it the monitor?", panels=(_skipped(), _failed(), _received())),
        ),
    )


def _of_threshold(name: str) -> str:
    return of_dashboard(name, _THRESHOLD)


def _open() -> Panel:
    return stat(
        "Breach",
        "1 while a breach of the chosen thresholds and series is open.",
        Query(expr=f"max({_of_threshold('hss_threshold_breach')})", legend="breach"),
        unit=Unit.NONE,
        steps=NONE_IS_GOOD,
        links=(BREACHES,),
    )


def _value_now() -> Panel:
    return stat(
        "Value",
        "The statistic that the threshold watches; the largest one where several are chosen.",
        Query(expr=f"max({_of_threshold('hss_threshold_value')})", legend="value"),
        unit=Unit.NONE,
        empty="too few records",
    )


def _records_now() -> Panel:
    return stat(
        "Records behind it",
        "Records of the threshold's window; the fewest where several thresholds are chosen.",
        Query(expr=f"min({_of_threshold('hss_threshold_records')})", legend="records"),
        unit=Unit.COUNT,
        links=(RECORDS,),
    )


def _drift_began() -> Panel:
    return stat(
        "Drift began",
        "Estimated time of the earliest change of a drifted signal.",
        Query(
            expr=f"1000 * min({of_dashboard('hss_drift_since_timestamp_seconds')})",
            legend="drift began",
        ),
        unit=Unit.MOMENT,
        empty="no drift",
        links=(DRIFT,),
    )


def _since() -> Panel:
    since = by_series("hss_drift_since_timestamp_seconds", "signal")
    return table(
        "Drifted since",
        "Estimated time of the change, by signal: compare it with releases of the service.",
        replace(since, expr=f"1000 * {since.expr}", instant=True),
        unit=Unit.MOMENT,
        value="since",
        width=12,
        links=(DRIFT,),
    )


def _skipped() -> Panel:
    return work.by_reason(
        "skipped",
        "Records and traffic that were not scored. A new reason that came with the incident "
        "says that the traffic changed. Not told apart by service.",
        width=8,
    )


def _failed() -> Panel:
    return work.by_reason(
        "failed",
        "Records given up after errors, such as a summarizer that does not answer.",
        width=8,
    )


def _received() -> Panel:
    return time_series(
        "Summarizations received",
        "Live traffic of the service and model.",
        scores.received(),
        unit=Unit.PER_SECOND,
        low=0,
        width=8,
        links=(RECORDS,),
    )
