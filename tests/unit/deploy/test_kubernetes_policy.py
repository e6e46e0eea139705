"""What every container here has to be: harmless to the node, to its pod, and to the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import monitor
from monitor import configuration

KUBERNETES = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
OVERLAYS = sorted(path.name for path in (KUBERNETES / "overlays").iterdir())
SIDECAR = "hss-monitor"


def pods(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for manifest in manifests:
        spec = (manifest.get("spec") or {}).get("template", {}).get("spec")
        if spec is not None:
            yield manifest["metadata"]["name"], spec


def containers(manifests: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(container, its pod), native sidecars among them."""
    for _, spec in pods(manifests):
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            yield container, spec


def only(manifests: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_container_is_locked_down(composed: Any, overlay: str) -> None:
    """What the restricted Pod Security Standard asks for, and a root that cannot be written."""
    found = list(containers(composed(overlay)))
    assert found
    for container, pod in found:
        own, shared = container["securityContext"], pod.get("securityContext", {})
        assert {**shared, **own}["runAsNonRoot"] is True
        assert {**shared, **own}["runAsUser"] > 0
        assert {**shared, **own}["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own["allowPrivilegeEscalation"] is False
        assert own["readOnlyRootFilesystem"] is True
        assert own["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_pod_has_a_way_out_of_itself(composed: Any, overlay: str) -> None:
    """None needs the API of Kubernetes, the node's network or its folders."""
    for _, spec in pods(composed(overlay)):
        assert spec["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        assert all("hostPath" not in volume for volume in spec["volumes"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_our_containers_have_requests_and_limits(composed: Any, overlay: str) -> None:
    """A monitor that takes what it likes takes it from the service."""
    for container, _ in containers(composed(overlay)):
        if "hss-monitor" not in container["image"]:
            continue
        for bound in ("requests", "limits"):
            assert {"cpu", "memory"} <= set(container["resources"][bound])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_image_is_pinned(composed: Any, overlay: str) -> None:
    """And ours to the version of this package, the same everywhere."""
    for container, _ in containers(composed(overlay)):
        name, _, tag = container["image"].rpartition(":")
        assert name
        assert tag != "latest"
        if "hss-monitor" in name:
            assert re.fullmatch(rf"{re.escape(monitor.__version__)}(-gpu)?", tag)


@pytest.mark.parametrize("overlay", ["sqlite-sidecar", "postgres-fleet"])
def test_a_sidecar_can_never_make_its_pod_unready(composed: Any, overlay: str) -> None:
    """No probe of ours may fail, and its container never ends: keep.py is what runs in it."""
    sidecars = [
        container
        for _, spec in pods(composed(overlay))
        for container in spec.get("initContainers", ())
    ]
    assert sidecars
    for sidecar in sidecars:
        assert sidecar["name"] == SIDECAR
        assert sidecar["restartPolicy"] == "Always"
        assert not {"startupProbe", "readinessProbe", "livenessProbe"} & set(sidecar)
        assert sidecar["command"] == [
            "python",
            "/opt/hss-monitor/keep.py",
            "--",
            "hss-monitor",
            "run",
        ]


@pytest.mark.parametrize("overlay", ["sqlite-sidecar", "postgres-fleet"])
def test_a_sidecar_changes_nothing_of_the_service(composed: Any, overlay: str) -> None:
    """All that the component adds to a Deployment is a label, a container and volumes."""
    text = (KUBERNETES / "overlays" / overlay / "newsroom.yaml").read_text()
    [before] = yaml.safe_load_all(text)
    [after] = [m for m in only(composed(overlay), "Deployment") if "app" in m["metadata"]["labels"]]
    pod = after["spec"]["template"]["spec"]
    assert [c["name"] for c in pod.pop("initContainers")] == [SIDECAR]
    assert all(volume["name"].startswith("hss-") for volume in pod.pop("volumes"))
    assert after["spec"]["template"]["metadata"]["labels"].pop("hss-monitor/sidecar") == "true"
    assert after == before


@pytest.mark.parametrize("overlay", ["sqlite-sidecar", "postgres-fleet"])
def test_the_network_policy_leaves_the_service_open(composed: Any, overlay: str) -> None:
    """It selects the service's pods, so it must open every port but ours to everybody."""
    [policy] = [
        item
        for item in only(composed(overlay), "NetworkPolicy")
        if item["spec"]["podSelector"]["matchLabels"] == {"hss-monitor/sidecar": "true"}
    ]
    assert policy["spec"]["policyTypes"] == ["Ingress"]
    everybody = [rule for rule in policy["spec"]["ingress"] if "from" not in rule]
    opened = {
        (ports["protocol"], port)
        for rule in everybody
        for ports in rule["ports"]
        for port in range(ports["port"], ports["endPort"] + 1)
    }
    every = {(kind, port) for kind in ("TCP", "UDP", "SCTP") for port in range(1, 65_536)}
    assert every - opened == {("TCP", 8318)}


@pytest.mark.parametrize("overlay", ["postgres-gateway", "gpu-scorers"])
def test_a_front_of_its_own_is_probed_for_itself_only(composed: Any, overlay: str) -> None:
    """/healthz and /readyz depend on no summarizer and no database; nothing else is asked."""
    [front] = [
        container
        for stateful in only(composed(overlay), "StatefulSet")
        for container in stateful["spec"]["template"]["spec"]["containers"]
    ]
    asked = {
        probe: front[probe]["httpGet"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert asked == {
        "startupProbe": {"path": "/healthz", "port": "hss-http"},
        "livenessProbe": {"path": "/healthz", "port": "hss-http"},
        "readinessProbe": {"path": "/readyz", "port": "hss-http"},
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_selectors_meet_what_they_are_for(composed: Any, overlay: str) -> None:
    """A monitor or a budget that selects nothing is silent."""
    manifests = composed(overlay)
    labels = [
        manifest["spec"]["template"]["metadata"]["labels"]
        for manifest in manifests
        if (manifest.get("spec") or {}).get("template", {}).get("spec")
    ]
    services = [manifest["metadata"].get("labels", {}) for manifest in only(manifests, "Service")]
    for manifest in manifests:
        spec = manifest.get("spec") or {}
        match manifest["kind"]:
            case "PodDisruptionBudget" | "PodMonitor":
                wanted, offered = spec["selector"]["matchLabels"], labels
            case "ServiceMonitor":
                wanted, offered = spec["selector"]["matchLabels"], services
            case "Service":
                wanted, offered = spec["selector"], labels
            case "NetworkPolicy":
                wanted, offered = spec["podSelector"]["matchLabels"], labels
            case _:
                continue
        assert any(wanted.items() <= each.items() for each in offered), manifest["metadata"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_configuration_is_valid(
    composed: Any, overlay: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And every file that it names lies where a container mounts the Secret or the data."""
    [configured] = only(composed(overlay), "ConfigMap")
    file = tmp_path / "hss-monitor.yaml"
    file.write_text(configured["data"]["hss-monitor.yaml"])
    monkeypatch.setenv("HSS_MONITOR__DATABASE__URL", "postgresql+psycopg://u:p@database/hss")
    settings = configuration.load(file)
    assert settings.access.ingest_token_file is not None
    named = re.findall(r"/run/secrets/hss-monitor/([\w-]+)", file.read_text())
    assert {"hash-key", "ingest-token", "metrics-token"} <= set(named)
    for container, _ in containers(composed(overlay)):
        if "hss-monitor" in container["image"] and container.get("args") != ["db", "upgrade"]:
            mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
            assert {"/etc/hss-monitor", "/run/secrets/hss-monitor"} <= mounts
