"""The reference pages, written from the declarations themselves: metrics and configuration."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from monitor.settings import PREFIX, Section, Settings
from monitor.telemetry import METRICS, Metric

_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}


def metrics_reference() -> str:
    """Markdown of every metric: name, kind, labels, who exports it, what it says."""
    lines = [
        "# Metrics",
        "",
        "Every metric that `/metrics` can show, written from `monitor.telemetry` by "
        "`hss-monitor metrics`.",
        "",
        "Label values come from the configuration only (`labels`, `categories`, `thresholds`); "
        "any other value becomes `other`. Metrics of the *front* are counted once for each record "
        "by the replica that took it in, so `sum()` over replicas is right. Metrics from *SQL* are "
        "exported only by the replica whose evaluator is active, and vanish with what they "
        "describe.",
        "",
        "| metric | kind | from | labels | meaning |",
        "|---|---|---|---|---|",
    ]
    lines += [_metric_row(metric) for metric in METRICS]
    return "\n".join(lines) + "\n"


def configuration_reference() -> str:
    """Markdown of every configuration key: type, default, meaning, by section."""
    lines = [
        "# Configuration",
        "",
        "Every key, written from `monitor.settings` by `hss-monitor config reference`. One YAML "
        "file holds them; the environment overrides single keys: "
        f"`{PREFIX}SAMPLING__RATE=0.05` is `sampling.rate`. An unknown key is an error. "
        "`hss-monitor config check` validates, `config show` prints what is in force, "
        "`config sample` a file with every default.",
    ]
    lists: dict[str, type[Section]] = {}
    for name, info in Settings.model_fields.items():
        lines += ["", f"## `{name}`", ""]
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section):
            if annotation.__doc__ and annotation.__doc__ != Section.__doc__:
                lines += [" ".join(annotation.__doc__.split()), ""]
            lines += _table(_leaves(annotation, f"{name}.", lists))
        else:
            lines += _table([(name, info)])
            _note_list(info.annotation, lists)
    for title, model in lists.items():
        lines += ["", f"## An entry of {title}", ""]
        lines += _table(_leaves(model, "", {}))
    return "\n".join(lines) + "\n"


def _metric_row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    source = "front" if metric.source == "front" else "SQL"
    return f"| `{metric.name}` | {metric.kind} | {source} | {labels} | {metric.help} |"


def _table(fields: Iterator[tuple[str, FieldInfo]] | list[tuple[str, FieldInfo]]) -> list[str]:
    rows = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, info in fields:
        meaning = (info.description or "").replace("|", r"\|")
        rows.append(f"| `{name}` | {_kind(info.annotation)} | {_default(info)} | {meaning} |")
    return rows


def _leaves(
    model: type[BaseModel], prefix: str, lists: dict[str, type[Section]]
) -> Iterator[tuple[str, FieldInfo]]:
    for name, info in model.model_fields.items():
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section) and info.default:
            yield from _leaves(annotation, f"{prefix}{name}.", lists)
        else:
            _note_list(annotation, lists)
            yield f"{prefix}{name}", info


def _note_list(annotation: Any, lists: dict[str, type[Section]]) -> None:
    for part in get_args(annotation):
        if isinstance(part, type) and issubclass(part, Section):
            lists[f"`{part.__name__}`"] = part


def _kind(annotation: Any) -> str:
    """What to write, in words.

    >>> _kind(float | None)
    'number or null'
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is type(None):
        return "null"
    if origin is Annotated:
        return _kind(parts[0])
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin in {Union, types.UnionType}:
        return " or ".join(_kind(part) for part in parts)
    if origin is tuple:
        return f"list of {_kind(parts[0])}"
    if origin is dict:
        return f"mapping of {_kind(parts[0])} to {_kind(parts[1])}"
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation.__name__
    return _PLAIN.get(annotation, "secret text")


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "*required*"
    value = info.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "*required*"
    if isinstance(value, tuple) and value and isinstance(value[0], Section):
        return ", ".join(f"`{getattr(item, 'name', '…')}`" for item in value)
    return f"`{json.dumps(_plain(value), ensure_ascii=False)}`".replace("|", r"\|")


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Path | Enum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
