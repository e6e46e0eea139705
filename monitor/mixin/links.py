"""Links from dashboards to the sidecar's pages and between dashboards."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.mixin.panels import Link
from monitor.telemetry import STRATUM

FLEET, SERVICE, INCIDENT, HEALTH = "hss-fleet", "hss-service", "hss-incident", "hss-health"
"""Uids of the dashboards."""
LINE, ROW = "__field.labels", "__data.fields"
"""What was clicked: a line of a panel, a row of a table."""


def of_clicked(clicked: str, labels: Iterable[str] = STRATUM, *, variables: bool = False) -> str:
    """Query part of a link that keeps to what was clicked; `variables` are those of a dashboard.

    >>> of_clicked(LINE, ("service",))
    'service=${__field.labels.service:percentencode}'
    """
    head = "var-" if variables else ""
    return "&".join(f"{head}{label}=${{{clicked}.{label}:percentencode}}" for label in labels)


def dashboard_link(title: str, uid: str, query: str) -> Link:
    """To another dashboard, over the same time."""
    return Link(title=title, url=f"/d/{uid}?{query}&${{__url_time_range}}")


BREACHES = Link(title="Breaches", url="${public_url}/breaches")
RECORDS = Link(title="Records", url="${public_url}/records")
DRIFT = Link(title="Drift", url="${public_url}/drift")

RECORDS_OF_SERIES = Link(title="Its records", url=f"{RECORDS.url}?{of_clicked(LINE)}")
BREACHES_OF_SERIES = Link(title="Its breaches", url=f"{BREACHES.url}?{of_clicked(LINE)}")
DRIFT_OF_SERIES = Link(title="Its drift", url=f"{DRIFT.url}?{of_clicked(LINE)}")
INCIDENT_OF_SERIES = dashboard_link(
    "Its incident dashboard", INCIDENT, of_clicked(LINE, variables=True)
)
SERVICE_OF_SERIES = dashboard_link(
    "Its service dashboard", SERVICE, of_clicked(LINE, ("service",), variables=True)
)
