"""A real Prometheus scrapes a running sidecar: every query works, and panels have data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from monitor.mixin.files import DASHBOARDS
from monitor.mixin.installation import installation
from monitor.mixin.rules import alerts
from monitor.settings import Settings

WORDS = {"job": "hss-monitor", "__rate_interval": "5s"}
"""What Grafana puts in place of a variable; any other one shows everything."""


def _filled_in(expr: str) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda found: WORDS.get(found[1], ".*"), expr)


def _queries() -> Iterator[tuple[str, str, str]]:
    """(dashboard, panel, query)"""
    at = installation(Settings())
    for module in DASHBOARDS:
        model = module.dashboard(at).model()
        for panel in model["panels"]:
            for target in panel.get("targets", []):
                yield model["uid"], panel["title"], _filled_in(target["expr"])


@pytest.fixture
def comes(traffic: Any, wait_for: Any) -> Any:
    """Waits for a condition while traffic goes on: windows of seconds are soon empty else."""

    def wait(condition: Callable[[], Any], *, what: str) -> Any:
        def met() -> Any:
            traffic.score(3, traffic.GOOD, since=timedelta(seconds=1))
            return condition()

        return wait_for(met, seconds=120, what=what)

    return wait


@pytest.fixture(scope="module")
def prometheus(traffic: Any, sidecar: Any, make_prometheus: Any) -> Any:
    """After the evaluator has judged, and after every kind of traffic."""
    record = {"document": "d", "summary": "s", "service": "news", "model": "m1"}
    sidecar.post_records({"id": "waiting", "category": "general", **record})
    assert sidecar.post("/v1/records", b"{", "application/json").status_code == 400
    made = make_prometheus()
    sidecar.wait_for(lambda: sidecar.total("hss_evaluation_timestamp_seconds") > 0)
    sidecar.wait_for(lambda: "hss_threshold_breach" in sidecar.metrics())
    sidecar.wait_for(lambda: "hss_drift_detected" in sidecar.metrics())
    sidecar.wait_for(lambda: "hss_sampling_rate_ratio" in sidecar.metrics())
    return made


def test_every_query_of_every_panel_and_alert_is_answered(
    prometheus: Any, every_kind: Settings
) -> None:
    """A query that Prometheus refuses shows as an error on the panel, or as an alert that never
    fires."""
    asked = [query for _, _, query in _queries()]
    asked += [alert.expr for alert in alerts(every_kind, installation(every_kind))]
    assert len(asked) > 80
    refused = []
    for query in asked:
        answer = prometheus.ask(query)
        if answer["status"] != "success" or answer.get("warnings"):
            refused.append((query, answer))
    assert refused == []


def test_every_panel_of_the_overview_has_data(prometheus: Any, comes: Any) -> None:
    """An empty panel on the first screen looks as if nothing was wrong."""
    queries = [(panel, query) for board, panel, query in _queries() if board == "hss-fleet"]
    assert len(queries) > 10

    def empty() -> list[str]:
        return [panel for panel, query in queries if not prometheus.values(query)]

    # A rate needs two scrapes, and a series that began between them shows in the third.
    comes(lambda: empty() == [], what=f"data in {empty()}")


def test_the_other_dashboards_have_data_where_there_is_any(prometheus: Any, comes: Any) -> None:
    """Empty may stay only what tells of something bad: nothing has drifted, no job failed."""
    left = {
        ("hss-incident", "Drift began"),
        ("hss-incident", "Drifted since"),
        ("hss-health", "Scheduled jobs that failed"),
    }
    queries = list(_queries())

    def empty() -> set[tuple[str, str]]:
        return {(b, panel) for b, panel, query in queries if not prometheus.values(query)}

    comes(lambda: empty() <= left, what=f"data in {sorted(empty() - left)}")


def test_nothing_fires_while_all_is_well(prometheus: Any, comes: Any) -> None:
    """A good release, a running evaluator, a record that waits for seconds."""
    comes(lambda: prometheus.values("hss_threshold_breach == 0"), what="a verdict")
    assert prometheus.firing() == set()


def test_exemplars_lead_from_a_histogram_to_records(prometheus: Any, comes: Any) -> None:
    """The dots in panels of HSS: their label is the address of a record."""

    def exemplars() -> list[Any]:
        asked = {"query": "hss_score_bucket", "start": "0", "end": "9999999999"}
        found = prometheus.http.get("/api/v1/query_exemplars", params=asked).json()["data"]
        return [each["labels"]["record_id"] for series in found for each in series["exemplars"]]

    found = comes(exemplars, what="an exemplar")
    assert all(re.fullmatch(r"record-\d{5}", record) for record in found)


def test_one_series_answers_for_two_scrapes_of_the_same_evaluator(prometheus: Any) -> None:
    """The job label comes from Prometheus alone: nothing of ours is renamed to exported_job."""
    names = prometheus.http.get("/api/v1/labels").json()["data"]
    assert [name for name in names if name.startswith("exported_")] == []
