"""A dashboard: rows of panels placed on Grafana's grid, its variables and its links."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.errors import ConfigurationError
from monitor.mixin.panels import DATASOURCE, Panel

COLUMNS = 24
"""Of Grafana's grid."""
SCHEMA_VERSION = 38
"""Of Grafana 10.0; later ones migrate it when they load it."""
TAG = "hss-monitor"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """Panels under one heading; they flow from left to right."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Dashboard:
    """One dashboard."""

    uid: str
    """Stable: links and bookmarks hold it."""
    title: str
    description: str
    variables: tuple[Mapping[str, Any], ...]
    rows: tuple[Row, ...]
    since: str = "now-24h"

    def model(self) -> dict[str, Any]:
        """Its JSON as Grafana stores it."""
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": [TAG],
            "schemaVersion": SCHEMA_VERSION,
            "version": 1,
            "editable": True,
            "graphTooltip": 1,
            "timezone": "browser",
            "refresh": "1m",
            "time": {"from": self.since, "to": "now"},
            "annotations": {"list": []},
            "templating": {"list": [dict(variable) for variable in self.variables]},
            "links": [_others()],
            "panels": _placed(self.rows),
        }

    def json(self) -> str:
        return json.dumps(self.model(), indent=2, ensure_ascii=False) + "\n"


def datasource_variable() -> dict[str, Any]:
    """Which Prometheus is asked."""
    return {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "hide": 0,
        "includeAll": False,
        "multi": False,
        "refresh": 1,
        "regex": "",
        "skipUrlSync": False,
    }


def label_variable(name: str, label: str, of: str, *, everything: bool = True) -> dict[str, Any]:
    """The values that the label `name` has in the selector `of`; several or all at a time."""
    query = f"label_values({of}, {name})"
    shown: dict[str, Any] = {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": dict(DATASOURCE),
        "query": {"query": query, "refId": f"variable_{name}"},
        "hide": 0,
        "includeAll": everything,
        "multi": everything,
        "refresh": 2,
        "regex": "",
        "sort": 1,
        "skipUrlSync": False,
    }
    if everything:
        shown |= {"allValue": ".*", "current": {"selected": True, "text": "All", "value": "$__all"}}
    return shown


def constant_variable(name: str, label: str, value: str) -> dict[str, Any]:
    """A value that is set when the files are written."""
    return {
        "name": name,
        "label": label,
        "type": "constant",
        "query": value,
        "current": {"selected": False, "text": value, "value": value},
        "hide": 2,
        "skipUrlSync": True,
    }


def series_variables(public_url: str) -> tuple[dict[str, Any], ...]:
    """Data source, scrape job, service, model, category and the address of the pages."""
    received = 'hss_records_received_total{job=~"$job"}'
    return (
        datasource_variable(),
        label_variable("job", "Scrape job", "hss_build_info", everything=False),
        label_variable("service", "Service", received),
        label_variable("model", "Model", received),
        label_variable("category", "Category", 'hss_records_scored_total{job=~"$job"}'),
        constant_variable("public_url", "Address of the sidecar's pages", public_url),
    )


def _placed(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Row headings and panels one below the other, without a gap or an overlap."""
    placed: list[dict[str, Any]] = []
    y = 0
    for row in rows:
        placed.append(
            {
                "id": len(placed) + 1,
                "type": "row",
                "title": row.title,
                "collapsed": False,
                "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": y},
                "panels": [],
            }
        )
        y += 1
        x = deepest = 0
        for panel in row.panels:
            if panel.width > COLUMNS:
                raise ConfigurationError(f"panel {panel.title!r}: is wider than {COLUMNS} columns")
            if x + panel.width > COLUMNS:
                x, y, deepest = 0, y + deepest, 0
            placed.append(panel.model(len(placed) + 1, x=x, y=y))
            x += panel.width
            deepest = max(deepest, panel.height)
        y += deepest
    return placed


def _others() -> dict[str, Any]:
    """The other dashboards, with the same variables and time."""
    return {
        "title": "HSS dashboards",
        "type": "dashboards",
        "icon": "external link",
        "tooltip": "",
        "url": "",
        "tags": [TAG],
        "asDropdown": True,
        "targetBlank": False,
        "includeVars": True,
        "keepTime": True,
    }
