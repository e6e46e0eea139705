"""A bad release and the good one after it, from stored scores to the people on call."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / "deploy" / "compose" / "alertmanager.yaml"
BREACHES = {("HssSeverityBreach", "hss"), ("HssSupportBreach", "entity_support")}
DRIFTS = {("HssDriftWorse", "hss"), ("HssDriftWorse", "entity_support")}


@pytest.fixture
def alertmanager(make_alertmanager: Any, receiver: Any) -> Any:
    """The example's routes and inhibitions, without its waiting, telling a receiver of ours."""
    config = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    config["route"] |= {"group_wait": "1s", "group_interval": "1s"}
    for each in config["receivers"]:
        url = f"{receiver.url}/{each['name']}"
        each["webhook_configs"] = [{"url": url, "send_resolved": True}]
    return make_alertmanager(config)


def _told(receiver: Any, path: str, status: str) -> set[tuple[str, str]]:
    """(alert, signal) that people were told of under this status."""
    return {
        (alert["labels"]["alertname"], alert["labels"].get("signal", ""))
        for request in receiver.taken()
        if request.path == path
        for alert in json.loads(request.body)["alerts"]
        if alert["status"] == status
    }


@pytest.mark.slow
def test_a_bad_release_pages_and_a_good_one_ends_it(
    traffic: Any,
    sidecar: Any,
    make_prometheus: Any,
    alertmanager: Any,
    receiver: Any,
    wait_for: Any,
) -> None:
    """Breach and drift fire in Prometheus, reach Alertmanager and its receiver, and resolve."""
    prometheus = make_prometheus(alertmanager=alertmanager.address)
    wait_for(
        lambda: len(prometheus.values("hss_drift_detected == 0")) == 3,
        seconds=60,
        what="every signal is known to be stable",
    )
    assert prometheus.firing() == set()

    traffic.score(60, traffic.BAD, since=timedelta(seconds=2))
    wait_for(
        lambda: prometheus.firing() >= BREACHES | DRIFTS,
        seconds=60,
        what=f"{BREACHES | DRIFTS} fire",
    )
    wait_for(lambda: alertmanager.active() >= BREACHES | DRIFTS, seconds=30, what="they arrive")
    wait_for(
        lambda: _told(receiver, "/pages", "firing") >= BREACHES | DRIFTS,
        seconds=30,
        what="somebody is woken",
    )
    texts = [text for alert in prometheus.alerts() for text in alert["annotations"].values()]
    assert [text for text in texts if re.search(r"<no value>|<error|\{\{", text)] == []
    [breach] = [
        alert for alert in prometheus.alerts() if alert["labels"]["alertname"] == "HssSupportBreach"
    ]
    page = breach["annotations"]["page_url"]
    assert page.startswith(f"{sidecar.url.rstrip('/')}/breaches/latest?service=news&model=m1&")
    opened = sidecar.http.get(page, follow_redirects=True)
    assert opened.status_code == 200
    assert "/breaches/support_low-" in str(opened.url)
    runbook = sidecar.http.get(breach["annotations"]["runbook_url"])
    assert runbook.text.startswith("# HssSupportBreach\n")

    def recovered() -> bool:
        traffic.score(10, traffic.GOOD, since=timedelta(seconds=1))
        return not prometheus.firing() & (BREACHES | DRIFTS)

    wait_for(recovered, seconds=120, what="breaches and drift end")
    wait_for(
        lambda: not alertmanager.active() & (BREACHES | DRIFTS), seconds=60, what="they resolve"
    )
    wait_for(
        lambda: _told(receiver, "/pages", "resolved") >= BREACHES | DRIFTS,
        seconds=30,
        what="people are told so",
    )
    with sidecar.stores() as stores:
        rows = stores.breaches.list_breaches().rows
    assert {row.state for row in rows} == {"resolved"}


def test_amtool_accepts_the_example_and_routes_by_severity() -> None:
    """Pages and tickets must not end up in the same place."""
    amtool = shutil.which("amtool")
    if amtool is None:
        pytest.skip("amtool is not installed")
    subprocess.run([amtool, "check-config", str(EXAMPLE)], check=True, capture_output=True)
    route = [amtool, "config", "routes", "test", f"--config.file={EXAMPLE}"]
    told = {
        severity: subprocess.run(
            [*route, f"severity={severity}", "alertname=HssDrift"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for severity in ("page", "ticket")
    }
    assert told == {"page": "pages", "ticket": "tickets"}
