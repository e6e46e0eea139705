"""The compose stack: its own schema, its files, and the tools of what it configures."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import monitor
from monitor import configuration
from monitor.demo import traffic

compose_spec = pytest.importorskip("compose_spec")

FOLDER = Path(__file__).resolve().parents[3] / "deploy" / "compose"
GRAFANA = FOLDER.parents[1] / "grafana"


@pytest.fixture
def stack() -> dict[str, Any]:
    """The file with its anchors merged, as the command reads it."""
    text = (FOLDER / "compose.yaml").read_text()
    read = compose_spec.PyOptions(apply_merge=True).from_yaml(text)
    read.validate()
    found: dict[str, Any] = read.to_dict()
    return found


def test_the_file_holds_to_the_specification(stack: dict[str, Any]) -> None:
    """Its reader refuses keys that it does not know, and volumes that nobody declares."""
    assert {"summarizer", "sidecar", "postgres", "prometheus", "alertmanager", "grafana"} <= set(
        stack["services"]
    )
    text = (FOLDER / "compose.yaml").read_text().replace("mem_limit", "memory_limit")
    with pytest.raises(ValueError, match="memory_limit"):
        compose_spec.PyOptions(apply_merge=True).from_yaml(text)


def test_every_image_is_pinned(stack: dict[str, Any]) -> None:
    """The stack of today must still start in a year."""
    for service in stack["services"].values():
        _, _, tag = service["image"].rpartition(":")
        assert re.search(r"\d+\.\d+", tag), service["image"]
        if service["image"].startswith("hss-monitor:"):
            assert tag == monitor.__version__


def test_nothing_is_published_beyond_this_machine(stack: dict[str, Any]) -> None:
    """No tokens are set in it."""
    ports = [str(p) for service in stack["services"].values() for p in service.get("ports", ())]
    assert len(ports) == 5
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_our_containers_are_locked_down(stack: dict[str, Any]) -> None:
    """As they are on Kubernetes."""
    for service in stack["services"].values():
        if service["image"].startswith("hss-monitor:"):
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert service["mem_limit"]


def test_a_new_container_of_the_sidecar_has_the_name_of_the_old_one(stack: dict[str, Any]) -> None:
    """Records that a front took in are counted by that front alone; an engine makes up names."""
    _, _, owner = stack["services"]["sidecar"]["network_mode"].partition(":")
    assert stack["services"][owner]["hostname"] == owner


def test_every_mounted_file_is_there(stack: dict[str, Any]) -> None:
    """An engine would make an empty folder in its place."""
    sources = [
        mount.partition(":")[0]
        for service in stack["services"].values()
        for mount in service.get("volumes", ())
    ]
    own = [source for source in sources if source.startswith(".")]
    assert own
    for source in own:
        assert (FOLDER / source).exists(), source


def test_grafana_finds_what_is_mounted(stack: dict[str, Any]) -> None:
    """Its provisioning names a folder for dashboards and a variable for the data source."""
    grafana = stack["services"]["grafana"]
    targets = {mount.split(":")[0]: mount.split(":")[1] for mount in grafana["volumes"]}
    dashboards = yaml.safe_load((GRAFANA / "provisioning/dashboards/hss-monitor.yaml").read_text())
    sources = yaml.safe_load((GRAFANA / "provisioning/datasources/hss-monitor.yaml").read_text())
    [provider] = dashboards["providers"]
    assert targets["../../grafana/dashboards"] == provider["options"]["path"]
    assert targets["../../grafana/provisioning"] == "/etc/grafana/provisioning"
    variables = {
        name for s in sources["datasources"] for name in re.findall(r"^\$\{(\w+)}", s["url"])
    }
    assert variables == {"HSS_PROMETHEUS_URL"}
    assert variables <= set(grafana["environment"])


def test_prometheus_takes_its_configuration_and_the_rules(
    stack: dict[str, Any], tmp_path: Path
) -> None:
    """Checked together, with the rules where the container has them."""
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed")
    prometheus = stack["services"]["prometheus"]
    assert "../../grafana/alerts:/etc/prometheus/rules:ro" in prometheus["volumes"]
    text = (FOLDER / "prometheus.yaml").read_text()
    file = tmp_path / "prometheus.yaml"
    file.write_text(text.replace("/etc/prometheus/rules", str(GRAFANA / "alerts")))
    told = subprocess.run(
        ["promtool", "check", "config", str(file)], check=True, capture_output=True, text=True
    )
    assert re.search(r"SUCCESS: \d+ rules found", told.stdout)
    [scrape] = yaml.safe_load(text)["scrape_configs"]
    rules = (GRAFANA / "alerts" / "prometheus.rules.yaml").read_text()
    assert set(re.findall(r'up\{job="([^"]+)"\}', rules)) == {scrape["job_name"]}


def test_alertmanager_takes_its_configuration() -> None:
    """And sends pages and tickets different ways."""
    if not shutil.which("amtool"):
        pytest.skip("amtool is not installed")
    file = str(FOLDER / "alertmanager.yaml")
    subprocess.run(["amtool", "check-config", file], check=True, capture_output=True)
    for severity, receiver in (("page", "pages"), ("ticket", "tickets")):
        told = subprocess.run(
            ["amtool", "config", "routes", "test", f"--config.file={file}", f"severity={severity}"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert told.stdout.strip() == receiver


def test_the_inhibiting_alert_exists() -> None:
    """A renamed alert would inhibit nothing."""
    rules = yaml.safe_load((GRAFANA / "alerts" / "prometheus.rules.yaml").read_text())
    names = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    manager = yaml.safe_load((FOLDER / "alertmanager.yaml").read_text())
    named = re.findall(r'alertname="(\w+)"', str(manager["inhibit_rules"]))
    assert named
    assert set(named) <= names


def test_the_sidecar_takes_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the database's URL from the environment, as in the stack."""
    monkeypatch.setenv("HSS_MONITOR__DATABASE__URL", "postgresql+psycopg://hss:x@postgres/hss")
    settings = configuration.load(FOLDER / "hss-monitor.yaml")
    assert settings.database.url.endswith("@postgres/hss")
    assert settings.summarizer.kind == "replay"


def test_the_traffic_script_sends_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """It calls the demo's generator; here that gives up after three calls."""
    sent: list[int] = []

    class Generator(traffic.TrafficGenerator):
        def send(self, count: int) -> Any:
            sent.append(count)
            if len(sent) == 3:
                raise KeyboardInterrupt
            return []

    monkeypatch.setattr(traffic, "TrafficGenerator", Generator)
    monkeypatch.setattr(sys, "argv", ["traffic.py", "http://127.0.0.1:1"])
    with pytest.raises(KeyboardInterrupt):
        runpy.run_path(str(FOLDER / "traffic.py"))
    assert sent == [1, 1, 1]
