"""The files as they are written and compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from monitor.mixin import (
    fleet,
    grafana_rules,
    health,
    incident,
    prometheus_rules,
    provisioning,
    service,
)
from monitor.mixin.installation import Installation
from monitor.mixin.rules import alerts
from monitor.mixin.runbooks import runbooks
from monitor.settings import Settings

DASHBOARDS = (fleet, service, incident, health)
_HEAD = "# Written by `hss-monitor mixin write` from the configuration; do not edit.\n"


def files(settings: Settings, where: Installation) -> dict[PurePosixPath, str]:
    """Every file by its path below `grafana/`."""
    rules = alerts(settings, where)
    boards = [module.dashboard(where) for module in DASHBOARDS]
    documents: Mapping[str, Any] = {
        "alerts/prometheus.rules.yaml": prometheus_rules.rules_file(rules, where),
        "provisioning/alerting/hss-monitor.yaml": grafana_rules.rules_file(rules, where),
        "provisioning/datasources/hss-monitor.yaml": provisioning.datasources(where),
        "provisioning/dashboards/hss-monitor.yaml": provisioning.dashboards(),
    }
    return (
        {PurePosixPath(f"dashboards/{board.uid}.json"): board.json() for board in boards}
        | {PurePosixPath(path): _HEAD + _yaml(document) for path, document in documents.items()}
        | {PurePosixPath(f"runbooks/{name}.md"): text for name, text in runbooks().items()}
    )


def write(folder: Path, wanted: Mapping[PurePosixPath, str]) -> list[PurePosixPath]:
    """Write the files that differ; which ones they were."""
    changed = differing(folder, wanted)
    for path in changed:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(wanted[path], encoding="utf-8")
    return changed


def differing(folder: Path, wanted: Mapping[PurePosixPath, str]) -> list[PurePosixPath]:
    """Files that are missing or say something else."""
    return [path for path, text in wanted.items() if _text(folder / path) != text]


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that queries can be read."""


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _string)


def _yaml(document: Any) -> str:
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
