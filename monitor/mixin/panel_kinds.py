"""The kinds of panels that the dashboards use, one function each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.mixin.panels import Link, Panel, Query, Step, Unit


def time_series(
    title: str,
    description: str,
    *queries: Query,
    unit: Unit,
    width: int = 12,
    height: int = 8,
    low: float | None = None,
    high: float | None = None,
    stacked: bool = False,
    links: Sequence[Link] = (),
    data_links: Sequence[Link] = (),
) -> Panel:
    """Lines over time, with a legend that shows the last value and the mean."""
    custom = {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 20 if stacked else 0,
        "showPoints": "auto",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    limits = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
    return Panel(
        kind="timeseries",
        title=title,
        description=description,
        width=width,
        height=height,
        queries=queries,
        defaults=_defaults(unit, data_links) | limits | {"custom": custom},
        options={
            "legend": _legend("table", ("lastNotNull", "mean")),
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        links=tuple(links),
    )


def stat(
    title: str,
    description: str,
    query: Query,
    *,
    unit: Unit,
    steps: Sequence[Step] = (),
    empty: str = "unknown",
    width: int = 4,
    height: int = 4,
    links: Sequence[Link] = (),
) -> Panel:
    """The present value, large; `empty` is what stands there when there is none."""
    return Panel(
        kind="stat",
        title=title,
        description=description,
        width=width,
        height=height,
        queries=(query,),
        defaults=_defaults(unit, ())
        | {"color": {"mode": "thresholds"}, "thresholds": _steps(steps), "noValue": empty},
        options={
            "reduceOptions": {"values": False, "calcs": ["lastNotNull"], "fields": ""},
            "orientation": "auto",
            "textMode": "auto",
            "colorMode": "value" if steps else "none",
            "graphMode": "none",
            "justifyMode": "auto",
        },
        links=tuple(links),
    )


def state_timeline(
    title: str,
    description: str,
    *queries: Query,
    states: Mapping[str, tuple[str, str]],
    width: int = 24,
    height: int = 8,
    links: Sequence[Link] = (),
    data_links: Sequence[Link] = (),
) -> Panel:
    """When something was in which state; `states` gives a value's (text, colour)."""
    mapping = {
        "type": "value",
        "options": {
            value: {"text": text, "color": colour, "index": place}
            for place, (value, (text, colour)) in enumerate(states.items())
        },
    }
    return Panel(
        kind="state-timeline",
        title=title,
        description=description,
        width=width,
        height=height,
        queries=queries,
        defaults=_defaults(Unit.NONE, data_links)
        | {
            "mappings": [mapping],
            "color": {"mode": "thresholds"},
            "thresholds": _steps(()),
            "custom": {"lineWidth": 0, "fillOpacity": 70},
        },
        options={
            "showValue": "never",
            "rowHeight": 0.8,
            "mergeValues": True,
            "alignValue": "left",
            "legend": _legend("list", ()),
            "tooltip": {"mode": "single", "sort": "none"},
        },
        links=tuple(links),
    )


def table(
    title: str,
    description: str,
    query: Query,
    *,
    unit: Unit,
    value: str,
    width: int = 24,
    height: int = 8,
    links: Sequence[Link] = (),
    column_links: Mapping[str, Link] | None = None,
) -> Panel:
    """The present values with a column a label; `value` heads the column of numbers."""
    return Panel(
        kind="table",
        title=title,
        description=description,
        width=width,
        height=height,
        queries=(query,),
        defaults=_defaults(unit, ()) | {"custom": {"align": "auto", "filterable": True}},
        options={
            "showHeader": True,
            "cellHeight": "sm",
            "frameIndex": 0,
            "sortBy": [{"displayName": value, "desc": True}],
            "footer": {"show": False, "reducer": ["sum"], "fields": ""},
        },
        overrides=tuple(
            {
                "matcher": {"id": "byName", "options": column},
                "properties": [{"id": "links", "value": [_data_link(link)]}],
            }
            for column, link in (column_links or {}).items()
        ),
        transformations=(
            {
                "id": "organize",
                "options": {
                    "excludeByName": {"Time": True},
                    "indexByName": {},
                    "renameByName": {"Value": value},
                },
            },
        ),
        links=tuple(links),
    )


def text(title: str, description: str, content: str, *, width: int = 24, height: int = 6) -> Panel:
    """Markdown."""
    return Panel(
        kind="text",
        title=title,
        description=description,
        width=width,
        height=height,
        queries=(),
        defaults={},
        options={"mode": "markdown", "content": content},
    )


def _defaults(unit: Unit, data_links: Sequence[Link]) -> dict[str, Any]:
    links = {"links": [_data_link(link) for link in data_links]} if data_links else {}
    return {"unit": unit.value, "color": {"mode": "palette-classic"}} | links


def _legend(mode: str, calcs: Sequence[str]) -> dict[str, Any]:
    return {"displayMode": mode, "placement": "bottom", "showLegend": True, "calcs": list(calcs)}


def _steps(steps: Sequence[Step]) -> dict[str, Any]:
    shown = list(steps) or [Step(value=None, colour="text")]
    return {
        "mode": "absolute",
        "steps": [{"value": step.value, "color": step.colour} for step in shown],
    }


def _data_link(link: Link) -> dict[str, Any]:
    return {"title": link.title, "url": link.url, "targetBlank": True}
