"""Links from dashboards to the sidecar's pages and between dashboards."""

from __future__ import annotations

from monitor.mixin.panels import OF_SERIES, Link

FLEET, SERVICE, INCIDENT, HEALTH = "hss-fleet", "hss-service", "hss-incident", "hss-health"
"""Uids of the dashboards."""

BREACHES = Link(title="Breaches", url="${public_url}/breaches")
RECORDS = Link(title="Records", url="${public_url}/records")
DRIFT = Link(title="Drift", url="${public_url}/drift")

RECORDS_OF_SERIES = Link(title="Its records", url=f"${{public_url}}/records?{OF_SERIES}")
BREACHES_OF_SERIES = Link(
    title="Its breaches",
    url=f"${{public_url}}/breaches?{OF_SERIES}",
)
DRIFT_OF_SERIES = Link(title="Its drift", url=f"${{public_url}}/drift?{OF_SERIES}")
INCIDENT_OF_SERIES = Link(
    title="Its incident dashboard",
    url=f"/d/{INCIDENT}?var-service=${{__field.labels.service:percentencode}}"
    "&var-model=${__field.labels.model:percentencode}"
    "&var-category=${__field.labels.category:percentencode}&${__url_time_range}",
)
SERVICE_OF_SERIES = Link(
    title="Its service dashboard",
    url=f"/d/{SERVICE}?var-service=${{__field.labels.service:percentencode}}&${{__url_time_range}}",
)
