"""A panel, its queries and its links, as Grafana 10 and later store them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

DATASOURCE: Mapping[str, str] = {"type": "prometheus", "uid": "${datasource}"}
"""Every panel asks the data source that the dashboard's variable names."""


class Unit(StrEnum):
    """Grafana's names of units."""

    NONE = "none"
    COUNT = "short"
    SHARE = "percentunit"
    SECONDS = "s"
    PER_SECOND = "ops"
    MOMENT = "dateTimeAsIso"


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One PromQL query of a panel."""

    expr: str
    legend: str
    """`{{label}}` stands for a label's value."""
    exemplar: bool = False
    """Also ask for the records behind a histogram."""
    instant: bool = False
    """The present values only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """Where a click leads."""

    title: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """From `value` on, a field has this colour; `None` is the lowest step."""

    value: float | None
    colour: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A panel before it has a place on its dashboard."""

    kind: str
    title: str
    description: str
    width: int
    """Of 24 columns."""
    height: int
    queries: tuple[Query, ...]
    defaults: Mapping[str, Any]
    """`fieldConfig.defaults`."""
    options: Mapping[str, Any]
    overrides: tuple[Mapping[str, Any], ...] = ()
    transformations: tuple[Mapping[str, Any], ...] = ()
    links: tuple[Link, ...] = field(default=())

    def model(self, number: int, *, x: int, y: int) -> dict[str, Any]:
        """Its JSON at a place of the grid."""
        model: dict[str, Any] = {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            "fieldConfig": {"defaults": self.defaults, "overrides": list(self.overrides)},
            "options": self.options,
            "links": [_link(link) for link in self.links],
        }
        if self.queries:
            model["datasource"] = dict(DATASOURCE)
            model["targets"] = [
                _target(query, chr(ord("A") + place), table=self.kind == "table")
                for place, query in enumerate(self.queries)
            ]
        if self.transformations:
            model["transformations"] = list(self.transformations)
        return model


def _link(link: Link) -> dict[str, Any]:
    return {
        "title": link.title,
        "type": "link",
        "url": link.url,
        "icon": "external link",
        "tooltip": "",
        "tags": [],
        "asDropdown": False,
        "targetBlank": True,
        "includeVars": False,
        "keepTime": False,
    }


def _target(query: Query, reference: str, *, table: bool) -> dict[str, Any]:
    return {
        "refId": reference,
        "datasource": dict(DATASOURCE),
        "expr": query.expr,
        "legendFormat": query.legend,
        "editorMode": "code",
        "instant": query.instant,
        "range": not query.instant,
        "format": "table" if table else "time_series",
    } | ({"exemplar": True} if query.exemplar else {})
