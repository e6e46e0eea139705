"""The real front, alone or with scorers that load no models."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # ships no types
import pytest

_shared = runpy.run_path(str(Path(__file__).parents[1] / "acceptance" / "sidecar.py"))
make_sidecar, sidecar = _shared["make_sidecar"], _shared["sidecar"]

FAKE = Path(__file__).with_name("fake_scorer")
QUICK = {"poll_seconds": 0.05, "lease_seconds": 1.0}


@pytest.fixture(scope="module")
def make_staffed(make_sidecar: Callable[..., Any]) -> Callable[..., Any]:
    """A sidecar with scorers whose work is told by the document; see `fake_scorer`."""

    def make(*, execution: Mapping[str, Any] | None = None, **sections: Mapping[str, Any]) -> Any:
        local = {"backend": "local", **QUICK, **(execution or {})}
        return make_sidecar(
            path=FAKE, execution=local, scheduler={"supervise_seconds": 0.2}, **sections
        )

    return make


@pytest.fixture(scope="module")
def record() -> Callable[..., dict[str, Any]]:
    """A record to post; what the fake scorer does with it stands in its document."""

    def make(record_id: str, document: str = "score it", **fields: Any) -> dict[str, Any]:
        named = {"id": record_id, "document": document, "summary": "s"}
        return {**named, "service": "news", "model": "m", **fields}

    return make


@pytest.fixture(scope="module")
def states() -> Callable[[Any], dict[str, tuple[str, str | None]]]:
    """id → (state, reason) of everything in a sidecar's database."""

    def read(sidecar: Any) -> dict[str, tuple[str, str | None]]:
        rows = sidecar.rows("SELECT id, state, reason FROM records")
        return {row["id"]: (row["state"], row["reason"]) for row in rows}

    return read


@pytest.fixture(scope="module")
def scorers() -> Callable[[Any], list[psutil.Process]]:
    """The living scorer processes of a sidecar."""

    def find(sidecar: Any) -> list[psutil.Process]:
        children = psutil.Process(sidecar.process.pid).children()
        return [child for child in children if child.status() != psutil.STATUS_ZOMBIE]

    return find
