"""Pages as a browser gets them, over stores that a night on call has filled."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from monitor.access.guard import guard
from monitor.investigate.pages import pages_router
from monitor.investigate.sources import Sources
from monitor.settings import Settings
from monitor.storage.audit import SqlTextAudit
from monitor.storage.breach_store import SqlBreachStore
from monitor.storage.content import ContentMode
from monitor.storage.drift_store import SqlDriftStore
from monitor.storage.engine import Database, connect
from monitor.storage.lease import SqlEvaluatorLease
from monitor.storage.schema import upgrade
from monitor.stores import now

story_file = runpy.run_path(str(Path(__file__).parents[2] / "browser" / "story.py"))


def sources_of(database: Database) -> Sources:
    return Sources(
        database=database,
        breaches=SqlBreachStore(database, clock=now),
        drift=SqlDriftStore(database, clock=now),
        audit=SqlTextAudit(database, clock=now),
        evaluator=SqlEvaluatorLease(database, clock=now).current,
        clock=now,
        window=timedelta(hours=1),
        drift_window=timedelta(hours=1),
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Any]]:
    """A database and its story; tests of a module share it, and may add marks to it."""
    database = connect(f"sqlite:///{tmp_path_factory.mktemp('night') / 'night.db'}")
    upgrade(database)
    yield database, story_file["tell"](database, records=32)
    database.close()


@pytest.fixture
def story(filled: tuple[Database, Any]) -> Any:
    return filled[1]


@pytest.fixture
def sources(filled: tuple[Database, Any]) -> Sources:
    return sources_of(filled[0])


def client_of(database: Database, **access: Any) -> TestClient:
    app = FastAPI(openapi_url="/api/openapi.json")
    settings = Settings(access=access)
    guard(app, settings, hash_key=b"k" * 32, clock=now, refused=lambda status: None)
    app.include_router(pages_router(sources_of(database)))
    return TestClient(app, base_url="http://127.0.0.1")


@pytest.fixture
def client(filled: tuple[Database, Any]) -> Iterator[TestClient]:
    """Everybody who reaches the port may read and change."""
    with client_of(filled[0]) as client:
        yield client


@pytest.fixture
def guarded(filled: tuple[Database, Any]) -> Iterator[TestClient]:
    """Texts are for investigators only."""
    tokens = {"viewer_token": "v" * 24, "investigator_token": "i" * 24, "texts": "investigator"}
    with client_of(filled[0], **tokens) as client:
        yield client


@pytest.fixture
def hashed(tmp_path: Path) -> Iterator[tuple[TestClient, Any]]:
    """The same night where only hashes are kept."""
    database = connect(f"sqlite:///{tmp_path / 'hashed.db'}")
    upgrade(database)
    story = story_file["tell"](database, records=16, mode=ContentMode.HASH_ONLY)
    with client_of(database) as client:
        yield client, story
    database.close()


@pytest.fixture
def form_of(client: TestClient) -> Callable[[str], dict[str, str]]:
    """The hidden fields of the forms of a page."""

    def read(path: str) -> dict[str, str]:
        page = client.get(path).text
        token = page.split('name="csrf" value="', 1)[1].split('"', 1)[0]
        return {"csrf": token}

    return read
