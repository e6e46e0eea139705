"""The alerts reach Prometheus through the operator as they are in `grafana/`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
RULES = REPOSITORY / "grafana" / "alerts" / "prometheus.rules.yaml"
script = runpy.run_path(str(REPOSITORY / "deploy" / "kubernetes" / "prometheus_rule.py"))


def test_the_rules_are_written_anew_after_a_change() -> None:
    """Else a cluster would go on with the alerts of an old version."""
    wanted = script["wrapped"](RULES.read_text())
    assert script["TARGET"].read_text() == wanted, "run deploy/kubernetes/prometheus_rule.py"


def test_the_object_holds_the_rules(composed: Any) -> None:
    """Wrapping changes nothing but the depth."""
    [rule] = [item for item in composed("sqlite-sidecar") if item["kind"] == "PrometheusRule"]
    assert rule["spec"] == yaml.safe_load(RULES.read_text())


@pytest.mark.parametrize("overlay", ["sqlite-sidecar", "postgres-fleet", "postgres-gateway"])
def test_the_scrape_job_is_the_one_that_alerts_ask_for(composed: Any, overlay: str) -> None:
    """The operator would name it after the object, and no alert would ever fire."""
    jobs = set(re.findall(r'up\{job="([^"]+)"\}', RULES.read_text()))
    monitors = [m for m in composed(overlay) if m["kind"] in ("PodMonitor", "ServiceMonitor")]
    assert monitors
    for monitor in monitors:
        spec = monitor["spec"]
        for endpoint in spec.get("podMetricsEndpoints", spec.get("endpoints")):
            named = {each["replacement"] for each in endpoint["relabelings"]}
            assert named == jobs
