"""Alert rules of a configuration with a threshold of every kind, and a real sidecar to watch."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.mixin.installation import Installation, installation
from monitor.mixin.prometheus_rules import rules_file
from monitor.mixin.rules import alerts
from monitor.records import RecordState
from monitor.settings import Settings, Threshold

_HERE = Path(__file__).parent
_sidecars = runpy.run_path(str(_HERE.parent / "acceptance" / "sidecar.py"))
_receivers = runpy.run_path(str(_HERE.parent / "acceptance" / "receiver.py"))
_servers = runpy.run_path(str(_HERE / "servers.py"))
_traffic = runpy.run_path(str(_HERE / "traffic.py"))
make_sidecar = _sidecars["make_sidecar"]

MORE = (
    Threshold(name="documents_long", signal="document_words", limit={"value": 800}),
    Threshold(
        name="support_share_low",
        signal="entity_support",
        statistic="share_above",
        comparison="below",
        level={"value": 0.9},
        limit={"value": 0.8},
        severity="page",
    ),
)
"""Beside the defaults, so that every kind of alert is there."""
QUICK = {"window_seconds": 20, "min_records": 10, "hold_seconds": 0, "calm_seconds": 1}
WATCHED: dict[str, Any] = {
    "labels": {"services": ["news"], "models": ["m1"]},
    "sampling": {"budget": {"records_per_hour": 1_000_000, "epoch_seconds": 2}},
    "evaluation": {"enabled": True, "seconds": 1, "lease_seconds": 5},
    "drift": {
        "signals": ["hss", "raw_distance", "entity_support"],
        "min_reference_records": 80,
        "cycle_hours": 0.001,
        "min_records": 10,
        "recovery_records": 20,
        "permutations": 99,
        "window_seconds": 60,
        "false_alarm_days": 1,
    },
    "thresholds": [
        {"name": "hss_mean", "signal": "hss", "limit": {"value": 0.7}, "severity": "page"} | QUICK,
        {"name": "support_low", "signal": "entity_support", "comparison": "below"}
        | {"limit": {"value": 0.6}, "severity": "page"}
        | QUICK,
        {"name": "hss_high_share", "signal": "hss", "statistic": "share_above"}
        | {"level": {"value": 0.9}, "limit": {"value": 0.25}}
        | QUICK,
    ],
}
"""What a user would write, with windows of seconds instead of hours."""


@pytest.fixture(scope="session")
def every_kind() -> Settings:
    return Settings(thresholds=(*Settings().thresholds, *MORE))


@pytest.fixture(scope="session")
def where(every_kind: Settings) -> Installation:
    return installation(every_kind)


@pytest.fixture(scope="session")
def promtool() -> str:
    found: str = _servers["tool"]("promtool")
    return found


@pytest.fixture(scope="module")
def sidecar(make_sidecar: Any) -> Any:
    """A front that evaluates every second."""
    return make_sidecar(**WATCHED)


@pytest.fixture(scope="module")
def traffic(sidecar: Any) -> Any:
    """A reference of a hundred good records, and as many good ones after it."""
    made = _traffic["Traffic"](sidecar)
    made.score(100, made.GOOD, since=timedelta(seconds=300), until=timedelta(seconds=100))
    made.calibrate()
    made.score(100, made.GOOD, since=timedelta(seconds=40), until=timedelta(seconds=3))
    for state in (RecordState.SKIPPED, RecordState.FAILED):
        made.score(1, made.GOOD, since=timedelta(seconds=2), state=state)
    return made


@pytest.fixture(scope="module")
def rules(sidecar: Any) -> dict[str, Any]:
    """The alert rules of that sidecar, for a Prometheus that scrapes every second."""
    settings = sidecar.settings
    at = installation(settings, scrape_seconds=1, public_url=sidecar.url)
    return rules_file(alerts(settings, at), at)


@pytest.fixture
def wait_for() -> Any:
    return _servers["wait_for"]


@pytest.fixture(scope="module")
def make_prometheus(
    sidecar: Any, rules: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Starts a Prometheus that scrapes the sidecar; `alertmanager=` is where its alerts go."""
    made: list[Any] = []

    def make(*, alertmanager: str | None = None) -> Any:
        folder = tmp_path_factory.mktemp("prometheus")
        target = sidecar.url.removeprefix("http://").rstrip("/")
        made.append(
            _servers["Prometheus"](folder, target=target, rules=rules, alertmanager=alertmanager)
        )
        return made[-1]

    yield make
    for prometheus in made:
        prometheus.close()


@pytest.fixture
def make_alertmanager(tmp_path: Path) -> Iterator[Any]:
    """Starts an Alertmanager with a configuration."""
    made: list[Any] = []

    def make(config: dict[str, Any]) -> Any:
        made.append(_servers["Alertmanager"](tmp_path, config))
        return made[-1]

    yield make
    for alertmanager in made:
        alertmanager.close()


@pytest.fixture
def receiver() -> Iterator[Any]:
    """Where Alertmanager's messages arrive."""
    with _receivers["receiving"]() as receiving:
        yield receiving
