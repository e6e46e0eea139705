"""Provisioning files that let a fresh Grafana find data source, dashboards and alerts."""

from __future__ import annotations

from typing import Any

from monitor.mixin.grafana_rules import DATASOURCE_UID, FOLDER
from monitor.mixin.installation import Installation, duration


def datasources(where: Installation) -> dict[str, Any]:
    """Prometheus, with a link from an exemplar to its record."""
    return {
        "apiVersion": 1,
        "datasources": [
            {
                "name": "Prometheus (HSS)",
                "uid": DATASOURCE_UID,
                "type": "prometheus",
                "access": "proxy",
                # Expanded by Grafana from its environment.
                "url": "${HSS_PROMETHEUS_URL}",
                "jsonData": {
                    "httpMethod": "POST",
                    "timeInterval": duration(where.scrape_seconds),
                    "exemplarTraceIdDestinations": [
                        {
                            "name": "record_id",
                            "url": f"{where.public_url}/records/$${{__value.raw}}",
                            "urlDisplayLabel": "Open the record",
                        }
                    ],
                },
            }
        ],
    }


def dashboards() -> dict[str, Any]:
    """Where the dashboards lie: copy `dashboards/` there."""
    return {
        "apiVersion": 1,
        "providers": [
            {
                "name": "hss-monitor",
                "orgId": 1,
                "folder": FOLDER,
                "type": "file",
                "disableDeletion": False,
                "allowUiUpdates": False,
                "updateIntervalSeconds": 30,
                "options": {"path": "/etc/grafana/dashboards/hss"},
            }
        ],
    }
