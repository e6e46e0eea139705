"""Queries that people are told to use must name metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path

from monitor.telemetry import METRICS

GRAFANA = Path(__file__).parents[2] / "grafana" / "README.md"


def test_documented_queries_use_registered_metrics() -> None:
    """A renamed metric would leave a panel empty, which looks like good news."""
    known = {metric.name for metric in METRICS}
    known |= {
        f"{metric.name}_{part}"
        for metric in METRICS
        if metric.kind == "histogram"
        for part in ("bucket", "count", "sum")
    }
    used = set(re.findall(r"hss_[a-z_]+", GRAFANA.read_text(encoding="utf-8")))
    assert used
    assert used - known == set()
