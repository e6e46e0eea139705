"""`hss-monitor scorer`: what it refuses before it loads or starts anything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor import configuration
from monitor.errors import ConfigurationError


def _set(file: Path, **sections: dict[str, Any]) -> None:
    values = yaml.safe_load(file.read_text())
    for name, section in sections.items():
        values.setdefault(name, {}).update(section)
    file.write_text(yaml.safe_dump(values))


@pytest.mark.parametrize("arguments", [["scorer"], ["scorer", "--ray"]])
def test_a_queue_that_only_its_front_can_read_is_refused(
    cli: Any, config_file: Path, arguments: list[str]
) -> None:
    """It would lease every record only to find its texts unreadable, and call them lost."""
    _set(config_file, storage={"mode": "hash_only"})
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    for word in ("storage.mode: 'hash_only'", "execution.backend: local", "redacted"):
        assert word in result.err


def test_a_file_as_database_is_refused_for_a_cluster(cli: Any, config_file: Path) -> None:
    """Each machine would open, or make, a file of its own and find an empty queue."""
    _set(config_file, execution={"ray": {"address": "ray://head:10001"}})
    result = cli("scorer", "--ray")
    assert (result.code, result.out) == (2, "")
    for word in ("database.url", "postgresql", "execution.ray.address"):
        assert word in result.err


def test_without_ray_the_extra_is_named(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """3: something from outside is missing, and the message says how to get it."""
    for name in (
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER",
        "RAY_AUTH_MODE",
        "RAY_AUTH_TOKEN",
        "RAY_USAGE_STATS_ENABLED",
    ):
        monkeypatch.setenv(name, "")
    monkeypatch.setitem(sys.modules, "ray", None)
    result = cli("scorer", "--ray")
    assert (result.code, result.out) == (3, "")
    assert "pip install 'hss-monitor[ray]'" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("ray", "expected"),
    [
        ({"cpus": 1.5}, "execution.ray: cpus 1.5: above 1 Ray takes whole numbers only"),
        ({"gpus": 2.5}, "execution.ray: gpus 2.5: above 1 Ray takes whole numbers only"),
        ({"cpus": 0}, "execution.ray.cpus: 0 cannot be used"),
        ({"gpus": -1}, "execution.ray.gpus: -1 cannot be used"),
        ({"scorers": 0}, "execution.ray.scorers: 0 cannot be used"),
        ({"count": 2}, "execution.ray.count: unknown key"),
    ],
)
def test_resources_that_ray_would_refuse_are_refused_with_the_configuration(
    config_file: Path, ray: dict[str, float], expected: str
) -> None:
    """Ray says so only when the first actor is asked for, and names no key."""
    _set(config_file, execution={"ray": ray})
    with pytest.raises(ConfigurationError) as caught:
        configuration.load(config_file)
    assert expected in str(caught.value)


def test_several_scorers_may_share_a_gpu(config_file: Path) -> None:
    """A small model leaves most of one idle."""
    _set(config_file, execution={"ray": {"cpus": 0.5, "gpus": 0.25}})
    ray = configuration.load(config_file).execution.ray
    assert (ray.cpus, ray.gpus) == (0.5, 0.25)
