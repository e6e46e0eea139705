"""Every query of dashboards, alerts and documentation names what the registry declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.errors import ConfigurationError
from monitor.mixin.alerts import Alert, increase, latest
from monitor.mixin.selectors import labels_of, select
from monitor.telemetry import METRICS

OF_SCRAPES = {"job", "instance"}
GRAFANA = Path(__file__).parents[3] / "grafana"


def _selectors(expr: str) -> Iterator[tuple[str, set[str]]]:
    """(metric, labels that its matchers name) of every selector."""
    for name, matchers in re.findall(r"\b(hss_[a-z_]+|up)\b(?:\{([^}]*)\})?", expr):
        yield name, set(re.findall(r'([a-z_]+)\s*(?:=~|!~|!=|=)\s*"', matchers))


def _exprs(boards: list[dict[str, Any]], rules: list[Alert]) -> list[str]:
    shown = [t["expr"] for b in boards for p in b["panels"] for t in p.get("targets", [])]
    asked = [
        variable["query"]["query"]
        for board in boards
        for variable in board["templating"]["list"]
        if variable["type"] == "query"
    ]
    return [*shown, *asked, *(alert.expr for alert in rules)]


def test_metrics_and_labels_exist(boards: list[dict[str, Any]], rules: list[Alert]) -> None:
    """A renamed metric would leave a panel empty and an alert silent, which looks like good
    news."""
    used = {pair for expr in _exprs(boards, rules) for pair in _pairs(expr)}
    assert len(used) > 40
    wrong = [
        (name, label)
        for name, label in used
        if name != "up" and label not in {*labels_of(name), *OF_SCRAPES, None}
    ]
    assert wrong == []


def _pairs(expr: str) -> Iterator[tuple[str, str | None]]:
    for name, labels in _selectors(expr):
        # A string that a label is compared with may look like a metric: signal names do not.
        yield name, None
        yield from ((name, label) for label in labels)


def test_what_is_grouped_by_exists(boards: list[dict[str, Any]], rules: list[Alert]) -> None:
    """`sum by` of a label that a metric does not have folds everything into one."""
    wrong = []
    for expr in _exprs(boards, rules):
        for labels, name in re.findall(
            r"(?:max|sum|min|count|avg) by \(([^)]+)\) \((?:[a-z_]+\()*(hss_[a-z_]+)", expr
        ):
            known = {*labels_of(name), *OF_SCRAPES}
            wrong += [(name, x) for x in labels.split(", ") if x not in known]
    assert wrong == []


def test_a_selector_cannot_name_what_does_not_exist() -> None:
    """The mistake shows where the query is built, not at night."""
    with pytest.raises(ConfigurationError, match="hss_scores"):
        select("hss_scores")
    with pytest.raises(ConfigurationError, match=r"\['servce'\]"):
        select("hss_records_received_total", servce="news")
    with pytest.raises(ConfigurationError, match=r"\['le'\]"):
        select("hss_score_sum", le="0.5")
    with pytest.raises(ConfigurationError, match=r"\['signal'\]"):
        latest("hss_queue_age_seconds", "2m", ("job", "signal"))
    with pytest.raises(ConfigurationError, match=r"\['stage'\]"):
        increase("hss_records_scored_total", "1h", ("job", "stage"))


def test_no_metric_has_a_label_that_prometheus_sets() -> None:
    """`job` and `instance` are the scrape's: a metric's own would come out as exported_job."""
    assert [m.name for m in METRICS if OF_SCRAPES & set(m.labels)] == []


@pytest.mark.parametrize(
    "file", [*sorted(GRAFANA.rglob("*.md"))], ids=lambda f: str(f.relative_to(GRAFANA))
)
def test_written_down_queries_use_registered_metrics(file: Path) -> None:
    """People paste them into Prometheus."""
    for name in set(re.findall(r"\bhss_[a-z_]+[a-z]\b", file.read_text(encoding="utf-8"))):
        if name not in {"hss_mean", "hss_high_share"}:
            labels_of(name)
