"""Dashboards and alerts of a configuration that has a threshold of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.mixin.alerts import Alert
from monitor.mixin.files import DASHBOARDS
from monitor.mixin.installation import Installation, installation
from monitor.mixin.rules import alerts
from monitor.settings import Settings, Threshold

MODULES = {module.__name__.rpartition(".")[2]: module for module in DASHBOARDS}


@pytest.fixture(scope="session")
def settings() -> Settings:
    lengths = Threshold(name="documents_long", signal="document_words", limit={"value": 800})
    return Settings(thresholds=(*Settings().thresholds, lengths))


@pytest.fixture(scope="session")
def where(settings: Settings) -> Installation:
    return installation(settings, public_url="https://hss.example.org")


@pytest.fixture(scope="session")
def rules(settings: Settings, where: Installation) -> list[Alert]:
    return alerts(settings, where)


@pytest.fixture(scope="session", params=sorted(MODULES))
def board(request: pytest.FixtureRequest, where: Installation) -> dict[str, Any]:
    """Each dashboard as Grafana gets it."""
    model: dict[str, Any] = MODULES[request.param].dashboard(where).model()
    return model


@pytest.fixture(scope="session")
def boards(where: Installation) -> list[dict[str, Any]]:
    return [module.dashboard(where).model() for module in DASHBOARDS]
