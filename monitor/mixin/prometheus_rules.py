"""The alerts as a rules file of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from monitor.mixin.alerts import Alert
from monitor.mixin.installation import Installation, duration


def rules_file(alerts: Iterable[Alert], where: Installation) -> dict[str, Any]:
    """What stands in the file, by group."""
    return {
        "groups": [
            {
                "name": name,
                "interval": duration(where.scrape_seconds),
                "rules": [_rule(alert, where) for alert in members],
            }
            for name, members in groupby(alerts, key=lambda alert: alert.group)
        ]
    }


def _rule(alert: Alert, where: Installation) -> dict[str, Any]:
    rule: dict[str, Any] = {"alert": alert.name, "expr": alert.expr}
    if alert.hold:
        rule["for"] = duration(alert.hold)
    return rule | {"labels": alert.all_labels, "annotations": alert.annotations(where)}
