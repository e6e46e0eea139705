"""Every alert has a case that fires and one that stays silent, judged by promtool."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.mixin.installation import Installation
from monitor.mixin.prometheus_rules import rules_file
from monitor.mixin.rules import alerts
from monitor.settings import Settings

CASES = Path(__file__).parent / "cases"
CHECKED_IN = Path(__file__).parents[2] / "grafana" / "alerts" / "prometheus.rules.yaml"


@pytest.fixture(scope="module")
def rules(
    every_kind: Settings, where: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The rules file of a configuration with a threshold of every kind."""
    file = tmp_path_factory.mktemp("rules") / "rules.yaml"
    file.write_text(yaml.safe_dump(rules_file(alerts(every_kind, where), where)))
    return file


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True)


def _cases(file: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))["tests"]
    return cases


def test_promtool_accepts_the_rules(promtool: str, rules: Path) -> None:
    """Those of the repository, and those of a configuration with every kind of threshold."""
    told = _run(promtool, "check", "rules", CHECKED_IN, rules)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize("file", sorted(CASES.glob("*.yaml")), ids=lambda file: file.stem)
def test_promtool_passes(file: Path, promtool: str, rules: Path, tmp_path: Path) -> None:
    """What the rules do over time, replicas that change places included."""
    case = {"evaluation_interval": "30s"} | yaml.safe_load(file.read_text(encoding="utf-8"))
    (tmp_path / "case.yaml").write_text(yaml.safe_dump(case | {"rule_files": [str(rules)]}))
    told = _run(promtool, "test", "rules", tmp_path / "case.yaml")
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_alert_fires_in_a_case_and_stays_silent_in_another(
    every_kind: Settings, where: Installation
) -> None:
    """An alert that nobody saw fire may never; one that always fires is switched off."""
    names = {alert.name for alert in alerts(every_kind, where)}
    fires, silent = set(), set()
    for file in CASES.glob("*.yaml"):
        for case in _cases(file):
            own = [
                each
                for each in case["promql_expr_test"]
                if f'ALERTS{{alertname="{file.stem}"' in each["expr"]
            ]
            if case["name"].startswith("fires") and all(each["exp_samples"] for each in own):
                fires.add(file.stem)
            if case["name"].startswith("silent") and not own[-1].get("exp_samples"):
                silent.add(file.stem)
    assert (fires, silent) == (names, names)
