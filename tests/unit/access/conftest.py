"""The front's application with tokens, without its jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from monitor.app import web
from monitor.front import Front
from monitor.settings import Settings
from monitor.stores import open_stores

TOKENS = {
    "ingest": "in-5d2e",
    "metrics": "me-91c0",
    "viewer": "vi-77aa",
    "investigator": "iv-c41f",
}


@pytest.fixture
def tokens() -> dict[str, str]:
    return dict(TOKENS)


@pytest.fixture
def make_app(tmp_path: Path) -> Iterator[Callable[..., FastAPI]]:
    """Makes the application for `access` and other sections."""
    with ExitStack() as opened:

        def make(access: Mapping[str, Any] | None = None, **sections: Any) -> FastAPI:
            settings = Settings(
                database={"url": f"sqlite:///{tmp_path / 'hss.db'}"},  # type: ignore[arg-type]  # pydantic validates them
                storage={"hash_key_file": str(tmp_path / "key"), **sections.pop("storage", {})},
                execution={"backend": "none"},
                access=dict(access or {}),
                **sections,
            )
            stores = opened.enter_context(open_stores(settings))
            return web(Front(settings, stores))

        yield make


@pytest.fixture
def app(make_app: Callable[..., FastAPI]) -> FastAPI:
    """With a token for every role."""
    return make_app({f"{role}_token": token for role, token in TOKENS.items()})


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, follow_redirects=False)


@pytest.fixture
def open_client(make_app: Callable[..., FastAPI]) -> TestClient:
    """Of a front without any token."""
    return TestClient(make_app(), base_url="http://127.0.0.1:8318", follow_redirects=False)
