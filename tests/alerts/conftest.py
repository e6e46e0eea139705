"""Alert rules of a configuration that has a threshold of every kind."""

from __future__ import annotations

import shutil

import pytest

from monitor.mixin.installation import Installation, installation
from monitor.settings import Settings, Threshold

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


@pytest.fixture(scope="session")
def every_kind() -> Settings:
    return Settings(thresholds=(*Settings().thresholds, *MORE))


@pytest.fixture(scope="session")
def where(every_kind: Settings) -> Installation:
    return installation(every_kind)


def tool(name: str) -> str:
    """The path of a command; skips where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture(scope="session")
def promtool() -> str:
    return tool("promtool")
