"""Every object of every composed overlay against the schemas of Kubernetes and its operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

kubernetes_validate = pytest.importorskip("kubernetes_validate")
operator = pytest.importorskip("cloudcoil.models.prometheus_operator.v1")

KUBERNETES = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
OVERLAYS = sorted(path.name for path in (KUBERNETES / "overlays").iterdir())
_MINORS = {int(version.split(".")[1]) for version in kubernetes_validate.utils.all_versions()}
VERSIONS = [f"1.{minor}" for minor in sorted(_MINORS)[-3:]]
OPERATED = "monitoring.coreos.com/v1"
"""Objects of the Prometheus Operator, which Kubernetes itself does not know."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_takes_every_object(composed: Any, overlay: str, version: str) -> None:
    """In strict mode: a misspelt key would be dropped without a word on a cluster."""
    own = [item for item in composed(overlay) if item["apiVersion"] != OPERATED]
    assert own
    for manifest in own:
        used = kubernetes_validate.validate(manifest, version, strict=True)
        assert used == version


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_operator_takes_every_object(composed: Any, overlay: str) -> None:
    """Its models drop what they do not know, so what comes back must be what went in."""
    operated = [item for item in composed(overlay) if item["apiVersion"] == OPERATED]
    assert operated
    for manifest in operated:
        model = getattr(operator, manifest["kind"])
        back = model.model_validate(manifest).model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude_defaults=True
        )
        assert {**back, "apiVersion": OPERATED, "kind": manifest["kind"]} == manifest


def test_a_wrong_key_would_be_found(composed: Any) -> None:
    """The two checks above can fail."""
    job = next(item for item in composed("postgres-fleet") if item["kind"] == "Job")
    job["spec"]["retries"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, VERSIONS[-1], strict=True)
    monitor = next(item for item in composed("postgres-fleet") if item["kind"] == "PodMonitor")
    monitor["spec"]["podMetricsEndpoints"][0]["every"] = "30s"
    back = operator.PodMonitor.model_validate(monitor).model_dump(by_alias=True)
    assert "every" not in back["spec"]["podMetricsEndpoints"][0]
