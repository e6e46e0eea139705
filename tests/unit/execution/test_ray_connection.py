"""The way to a cluster, where there is none."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.errors import DependencyUnavailable
from monitor.execution.ray.connection import connected


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Ray of its own is told by the environment; it must not reach the next test."""
    for name in (
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER",
        "RAY_AUTH_MODE",
        "RAY_AUTH_TOKEN",
        "RAY_USAGE_STATS_ENABLED",
    ):
        monkeypatch.setenv(name, "set by nobody")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a stand-in for Ray was started with."""
    seen: dict[str, Any] = {}
    ray = SimpleNamespace(
        init=lambda **asked: seen.update(asked),
        shutdown=lambda: seen.update(shut_down=True),
        exceptions=SimpleNamespace(RayError=type("RayError", (Exception,), {})),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    return seen


@pytest.fixture
def listening() -> Iterator[int]:
    """A port that answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("address", [None, "auto"])
def test_without_the_extra_it_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    """Ray is large, and few need it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(DependencyUnavailable, match=r"pip install 'hss-monitor\[ray\]'") as caught,
        connected(address, cpus=1),
    ):
        pass
    assert caught.value.exit_code == 3


def test_a_ray_of_its_own_is_for_itself(started: dict[str, Any]) -> None:
    """Whoever reaches the ports of an open Ray runs programs as this user."""
    with connected(None, cpus=3):
        assert os.environ["RAY_AUTH_MODE"] == "token"
        assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert started["address"] == "local"
    assert (started["num_cpus"], started["include_dashboard"]) == (3, False)
    assert started["shut_down"]


def test_the_token_of_a_cluster_is_left_alone(started: dict[str, Any], listening: int) -> None:
    """There the environment says how to get in."""
    with connected(f"ray://127.0.0.1:{listening}", cpus=3):
        assert os.environ["RAY_AUTH_TOKEN"] == "set by nobody"
    assert started["address"] == f"ray://127.0.0.1:{listening}"
    assert "num_cpus" not in started, "a cluster knows by itself what it has"


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_is_not_there_is_named_at_once(started: dict[str, Any], scheme: str) -> None:
    """Ray itself tries for minutes before it says so."""
    address = f"{scheme}127.0.0.1:1"
    began = time.monotonic()
    with (
        pytest.raises(DependencyUnavailable) as caught,
        connected(address, cpus=1),
    ):
        pass
    assert time.monotonic() - began < 5
    assert f"execution.ray.address: '{address}' cannot be used" in str(caught.value)
    assert started == {}
