"""Writes `base/prometheus-rule.yaml` from the alert rules of `hss-monitor mixin write`.

python deploy/kubernetes/prometheus_rule.py [RULES]
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RULES = HERE.parents[1] / "grafana" / "alerts" / "prometheus.rules.yaml"
TARGET = HERE / "base" / "prometheus-rule.yaml"
HEAD = """\
# Written by deploy/kubernetes/prometheus_rule.py from the alert rules; do not edit.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: hss-monitor
spec:
"""


def wrapped(rules: str) -> str:
    """The rules file as an object of the Prometheus Operator, whose `spec` it is as it stands."""
    lines = [line for line in rules.splitlines() if not line.startswith("#")]
    return HEAD + "".join(f"  {line}\n" if line else "\n" for line in lines)


if __name__ == "__main__":
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else RULES
    TARGET.write_text(wrapped(source.read_text(encoding="utf-8")), encoding="utf-8")
