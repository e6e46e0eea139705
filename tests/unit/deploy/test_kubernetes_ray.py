"""The Ray cluster and the command that starts scorers on it, as Kustomize composes them."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import monitor
from monitor import configuration

kubernetes_validate = pytest.importorskip("kubernetes_validate")

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
FOLDER = DEPLOY / "kubernetes" / "ray"
SECRETS = "/run/secrets/hss-monitor/"
LATEST = max(kubernetes_validate.utils.all_versions(), key=lambda v: int(v.split(".")[1]))
VERSION = ".".join(LATEST.split(".")[:2])
CLUSTER_KEYS = {"rayVersion", "headGroupSpec", "workerGroupSpecs"}
GROUP_KEYS = {"groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template"}
"""What we use of KubeRay's `ray.io/v1`; its operator drops a key that it does not know."""


@cache
def _composed() -> str:
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed")
    return subprocess.check_output(["kubectl", "kustomize", str(FOLDER)], text=True, timeout=60)


@pytest.fixture
def objects() -> list[dict[str, Any]]:
    """As `kubectl apply -k` would send them."""
    return list(yaml.safe_load_all(_composed()))


def _only(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    [found] = [item for item in objects if item["kind"] == kind]
    return found


@pytest.fixture
def cluster(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return _only(objects, "RayCluster")


@pytest.fixture
def command(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return _only(objects, "Deployment")


@pytest.fixture
def templates(cluster: dict[str, Any], command: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The pods of head, workers and command."""
    [workers] = cluster["spec"]["workerGroupSpecs"]
    return {
        "head": cluster["spec"]["headGroupSpec"]["template"],
        "workers": workers["template"],
        "command": command["spec"]["template"],
    }


def test_kubernetes_takes_every_object_of_its_own(objects: list[dict[str, Any]]) -> None:
    """In strict mode: a misspelt key would be dropped without a word on a cluster."""
    own = [item for item in objects if item["kind"] != "RayCluster"]
    assert {item["kind"] for item in own} == {"ConfigMap", "Deployment", "NetworkPolicy"}
    for manifest in own:
        assert kubernetes_validate.validate(manifest, VERSION, strict=True) == VERSION


@pytest.mark.parametrize("name", ["head", "workers"])
def test_kubernetes_takes_the_pods_of_the_cluster(
    templates: dict[str, dict[str, Any]], name: str
) -> None:
    """KubeRay makes pods of these templates, and the schema of a pod is at hand."""
    pod = {"apiVersion": "v1", "kind": "Pod", **templates[name]}
    pod["metadata"] = {**pod["metadata"], "name": name}
    assert kubernetes_validate.validate(pod, VERSION, strict=True) == VERSION


def test_the_cluster_is_made_of_what_kuberay_knows(cluster: dict[str, Any]) -> None:
    """Its own keys, as their reference lists them; all start parameters are texts."""
    assert cluster["apiVersion"] == "ray.io/v1"
    spec = cluster["spec"]
    assert set(spec) == CLUSTER_KEYS
    assert set(spec["headGroupSpec"]) == {"rayStartParams", "template"}
    for group in spec["workerGroupSpecs"]:
        assert set(group) == GROUP_KEYS
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


def test_the_cluster_runs_the_version_that_is_tested(cluster: dict[str, Any]) -> None:
    """Another one on one side is refused when the command connects."""
    pins = (DEPLOY / "constraints.txt").read_text().splitlines()
    assert f"ray=={cluster['spec']['rayVersion']}" in pins


@pytest.mark.parametrize("name", ["head", "workers", "command"])
def test_every_pod_is_locked_down_and_pinned(
    templates: dict[str, dict[str, Any]], name: str
) -> None:
    """What the restricted Pod Security Standard asks for; ours to this package's version."""
    pod = templates[name]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    [container] = pod["containers"]
    assert container["image"] == f"registry.example/hss-monitor:{monitor.__version__}"
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for bound in ("requests", "limits"):
        assert {"cpu", "memory"} <= set(container["resources"][bound])


@pytest.mark.parametrize("name", ["head", "workers", "command"])
def test_ray_asks_everybody_for_its_token(templates: dict[str, dict[str, Any]], name: str) -> None:
    """Without it whoever reaches a port runs programs; one pod without it never joins."""
    [container] = templates[name]["spec"]["containers"]
    told = {item["name"]: item for item in container["env"]}
    assert told["RAY_AUTH_MODE"]["value"] == "token"
    source = told["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"]
    assert source == {"name": "hss-monitor-ray", "key": "auth_token"}


def test_the_command_finds_the_cluster_and_the_cluster_has_room(
    objects: list[dict[str, Any]],
    cluster: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ray waits without a word for room that is not there."""
    file = tmp_path / "hss-monitor.yaml"
    file.write_text(_only(objects, "ConfigMap")["data"]["hss-monitor.yaml"])
    monkeypatch.setenv("HSS_MONITOR__DATABASE__URL", "postgresql+psycopg://u:p@database/hss")
    wanted = configuration.load(file).execution.ray
    assert wanted.address == f"ray://{cluster['metadata']['name']}-head-svc:10001"
    assert cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    [workers] = cluster["spec"]["workerGroupSpecs"]
    [container] = workers["template"]["spec"]["containers"]
    cpus = float(container["resources"]["limits"]["cpu"])
    assert wanted.scorers <= workers["replicas"] * (cpus // wanted.cpus)


def test_each_pod_sees_the_secrets_that_it_reads_and_no_others(
    objects: list[dict[str, Any]], templates: dict[str, dict[str, Any]]
) -> None:
    """Tokens of the pages have no business where records are scored."""
    text = _only(objects, "ConfigMap")["data"]["hss-monitor.yaml"]
    named = set(re.findall(rf"{SECRETS}([\w-]+)", text))
    assert named == {"hash-key", "llm-key"}
    mounted = {
        name: {
            item["key"]
            for volume in template["spec"]["volumes"]
            if "secret" in volume
            for item in volume["secret"]["items"]
        }
        for name, template in templates.items()
    }
    assert mounted == {"head": set(), "workers": named, "command": {"hash-key"}}


def test_only_the_command_reaches_the_cluster(
    objects: list[dict[str, Any]], cluster: dict[str, Any], command: dict[str, Any]
) -> None:
    """Its pods carry the label that KubeRay makes of the cluster's name."""
    policies = {
        item["metadata"]["name"]: item["spec"]
        for item in objects
        if item["kind"] == "NetworkPolicy"
    }
    inside = {"ray.io/cluster": cluster["metadata"]["name"]}
    ours = command["spec"]["template"]["metadata"]["labels"]
    around, own = policies["hss-monitor-ray-cluster"], policies["hss-monitor-ray-command"]
    assert around["podSelector"]["matchLabels"] == inside
    assert own["podSelector"]["matchLabels"] == ours
    assert own["ingress"] == []
    assert around["ingress"] == [
        {"from": [{"podSelector": {"matchLabels": inside}}]},
        {
            "from": [{"podSelector": {"matchLabels": ours}}],
            "ports": [{"protocol": "TCP", "port": 10001}],
        },
    ]
