"""The demo's bad release, from live traffic to the people on call, and its end."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.configuration import load
from monitor.demo.processes import free_port
from monitor.mixin.installation import installation
from monitor.mixin.prometheus_rules import rules_file
from monitor.mixin.rules import alerts

_servers = runpy.run_path(str(Path(__file__).parent / "servers.py"))
PLAY_SECONDS = 900.0


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Any]:
    """(port, configuration file) of a demo that keeps running after its last act."""
    port = free_port()
    command = ["-m", "monitor", "demo", "--port", str(port), "--folder", str(tmp_path / "demo")]
    with (tmp_path / "demo.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def configuration() -> Path | None:
        assert process.poll() is None, (tmp_path / "demo.log").read_text(encoding="utf-8")
        return next((tmp_path / "demo").rglob("hss-monitor.yaml"), None)

    yield port, _servers["wait_for"](configuration, seconds=60, what="the demo is configured")
    process.terminate()
    process.wait(60)


@pytest.mark.slow
def test_the_demo_s_bad_release_pages_and_its_good_one_ends_it(
    demo: Any, make_alertmanager: Any, receiver: Any, tmp_path: Path, wait_for: Any
) -> None:
    """Breach and drift fire in a real Prometheus that scrapes it, and reach a receiver."""
    port, file = demo
    settings = load(file)
    at = installation(settings, scrape_seconds=1, public_url=f"http://127.0.0.1:{port}")
    people = {"name": "people", "webhook_configs": [{"url": receiver.url, "send_resolved": True}]}
    route = {"receiver": "people", "group_wait": "1s", "group_interval": "1s"}
    scraping = tmp_path / "prometheus"
    scraping.mkdir()
    alertmanager = make_alertmanager({"route": route, "receivers": [people]})
    prometheus = _servers["Prometheus"](
        scraping,
        target=f"127.0.0.1:{port}",
        rules=rules_file(alerts(settings, at), at),
        alertmanager=alertmanager.address,
    )

    def kinds(found: set[tuple[str, str]]) -> set[str]:
        """`breach` and `drift`, where one of its alerts is there."""
        words = {"Breach": "breach", "Drift": "drift"}
        return {kind for name, _ in found for word, kind in words.items() if word in name}

    try:
        wait_for(
            lambda: kinds(prometheus.firing()) == {"breach", "drift"},
            seconds=PLAY_SECONDS,
            what="the bad release's breach and drift fire",
        )
        wait_for(
            lambda: kinds(alertmanager.active()) == {"breach", "drift"},
            seconds=30,
            what="Alertmanager holds both",
        )
        wait_for(
            lambda: not kinds(prometheus.firing()) and not kinds(alertmanager.active()),
            seconds=PLAY_SECONDS,
            what="both end with the good release",
        )
        wait_for(
            lambda: any(b'"status":"resolved"' in request.body for request in receiver.taken()),
            seconds=30,
            what="people are told that it is over",
        )
    finally:
        prometheus.close()
