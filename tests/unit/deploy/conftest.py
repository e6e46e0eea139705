"""The overlays as Kustomize composes them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"


@cache
def _composed(overlay: str) -> str:
    if shutil.which("kubectl"):
        command = ["kubectl", "kustomize"]
    elif shutil.which("kustomize"):
        command = ["kustomize", "build"]
    else:
        pytest.skip("neither kubectl nor kustomize is installed")
    folder = DEPLOY / "kubernetes" / "overlays" / overlay
    return subprocess.check_output([*command, str(folder)], text=True, timeout=60)


@pytest.fixture
def composed() -> Callable[[str], list[dict[str, Any]]]:
    """The objects of an overlay, as `kubectl apply -k` would send them."""
    return lambda overlay: list(yaml.safe_load_all(_composed(overlay)))
