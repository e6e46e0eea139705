"""The same alerts as provisioned rules of Grafana, for those without Prometheus' own alerting.

Grafana expands environment variables in provisioning files, in everything but annotations, so
nothing else may hold a `$`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from monitor.mixin.alerts import Alert
from monitor.mixin.installation import Installation, duration

FOLDER = "HSS"
DATASOURCE_UID = "hss-prometheus"
"""Of the data source that is provisioned beside; a provisioned alert cannot use a variable."""
LOOK_BACK = 600
"""Seconds of the window that Grafana wants named; the queries are instant ones."""
_EXPRESSION = "__expr__"


def rules_file(alerts: Iterable[Alert], where: Installation) -> dict[str, Any]:
    """What stands in the file, by group."""
    return {
        "apiVersion": 1,
        "groups": [
            {
                "orgId": 1,
                "name": name,
                "folder": FOLDER,
                # Grafana's scheduler ticks every 10 seconds.
                "interval": duration(10 * max(1, round(where.scrape_seconds / 10))),
                "rules": [_rule(alert, where) for alert in members],
            }
            for name, members in groupby(alerts, key=lambda alert: alert.group)
        ],
    }


def _rule(alert: Alert, where: Installation) -> dict[str, Any]:
    told = {
        name: text.replace("{{ $value", "{{ $values.A.Value")
        for name, text in alert.annotations(where).items()
    }
    title = f"{alert.name} {alert.labels.get('threshold', '')}".rstrip()
    number = hashlib.sha256(title.encode()).hexdigest()[:8]
    return {
        "uid": f"{alert.name.lower()}-{number}",
        "title": title,
        "condition": "C",
        "data": [
            _query("A", alert.expr),
            # 1 for every series of A whatever its value, so that the condition is one for all.
            _query("B", f"count by ({', '.join(alert.by)}) (\n{alert.expr}\n)"),
            {
                "refId": "C",
                "datasourceUid": _EXPRESSION,
                "model": {
                    "refId": "C",
                    "type": "threshold",
                    "expression": "B",
                    "datasource": {"type": _EXPRESSION, "uid": _EXPRESSION},
                    "conditions": [{"evaluator": {"type": "gt", "params": [0]}}],
                },
            },
        ],
        # No series is no alert; a query that fails is one.
        "noDataState": "OK",
        "execErrState": "Error",
        "for": duration(alert.hold),
        "labels": alert.all_labels,
        "annotations": told,
        "isPaused": False,
    }


def _query(reference: str, expr: str) -> dict[str, Any]:
    return {
        "refId": reference,
        "relativeTimeRange": {"from": LOOK_BACK, "to": 0},
        "datasourceUid": DATASOURCE_UID,
        "model": {
            "refId": reference,
            "datasource": {"type": "prometheus", "uid": DATASOURCE_UID},
            "expr": expr,
            "instant": True,
            "range": False,
            "editorMode": "code",
        },
    }
