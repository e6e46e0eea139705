"""Texts for investigators only, and every view of one noted."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from monitor.records import RecordState, ScoredRecord
from monitor.settings import Settings
from monitor.storage.audit import TextView
from monitor.storage.queries import list_records
from monitor.stores import Stores, open_stores

DOCUMENT = "The Quillmarsh council approved the budget on Monday."
SUMMARY = "The Vexmoorby council approved it."
HTML = {"accept": "text/html"}


@pytest.fixture
def stores(tmp_path: Path) -> Any:
    """The database of the application, from outside."""
    settings = Settings(
        database={"url": f"sqlite:///{tmp_path / 'hss.db'}"},  # type: ignore[arg-type]  # pydantic validates them
        storage={"hash_key_file": str(tmp_path / "key")},  # type: ignore[arg-type]  # likewise
    )
    with open_stores(settings) as stores:
        yield stores


@pytest.fixture
def reader(
    make_app: Callable[..., FastAPI], tokens: dict[str, str], stores: Stores
) -> Callable[[str], TestClient]:
    """A client for each role, of a front that shows texts to investigators; one record is in."""
    access = {f"{role}_token": token for role, token in tokens.items()}
    app = make_app({**access, "texts": "investigator"})

    def client(role: str) -> TestClient:
        headers = {"authorization": f"Bearer {tokens[role]}"}
        return TestClient(app, headers=headers, follow_redirects=False)

    record = {"id": "r1", "document": DOCUMENT, "summary": SUMMARY, "service": "s", "model": "m"}
    assert client("ingest").post("/v1/records", json=record).status_code == 200
    [leased] = stores.queue.lease("w", count=1, seconds=60)
    result = ScoredRecord(
        record_id="r1",
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category="general",
        scored_at=datetime.now(UTC),
        fingerprint="fp",
    )
    stores.queue.finish(leased.lease, result)
    return client


def views(stores: Stores) -> list[tuple[str, str, str, str]]:
    found: list[TextView] = stores.audit.views()
    return sorted((view.record_id, view.role, view.viewer, view.channel) for view in found)


def test_a_viewer_sees_the_numbers_and_no_text(
    reader: Callable[[str], TestClient], stores: Stores
) -> None:
    """And is told why; nothing is noted, because nothing was shown."""
    viewer = reader("viewer")
    answers = [
        viewer.get(path, headers=HTML)
        for path in ("/", "/records", "/records/r1", "/api/records", "/api/records/r1")
    ]
    assert [answer.status_code for answer in answers] == [200] * 5
    for answer in answers:
        assert "Quillmarsh" not in answer.text
        assert "Vexmoorby" not in answer.text
    assert "investigator" in answers[2].text
    assert views(stores) == []


def test_a_search_tells_a_viewer_nothing_about_texts(
    reader: Callable[[str], TestClient],
) -> None:
    """Whether a word finds a record is a part of its text."""
    viewer = reader("viewer")
    for path in ("/records", "/api/records"):
        answers = [viewer.get(path, params={"text": word}) for word in ("Quillmarsh", "Nowhere")]
        assert {answer.status_code for answer in answers} <= {400, 403}
        assert ["/records/r1" in answer.text for answer in answers] == [False, False]


def test_what_an_investigator_sees_is_noted_first(
    reader: Callable[[str], TestClient], stores: Stores
) -> None:
    """Page and API alike; a list without texts is no view."""
    investigator = reader("investigator")
    assert investigator.get("/records").status_code == 200
    assert views(stores) == []
    for path in ("/records/r1", "/api/records/r1"):
        assert "Quillmarsh" in investigator.get(path).text
    assert views(stores) == [
        ("r1", "investigator", "token", "api"),
        ("r1", "investigator", "token", "page"),
    ]


def test_a_browsers_view_is_noted_by_its_session(
    reader: Callable[[str], TestClient], stores: Stores, tokens: dict[str, str]
) -> None:
    """Two people with one token are told apart, and no cookie stands in the audit."""
    app = reader("viewer").app
    for _ in range(2):
        browser = TestClient(app, follow_redirects=False)
        browser.post("/sign-in", data={"token": tokens["investigator"]})
        assert browser.get("/records/r1").status_code == 200
    names = {viewer for _, _, viewer, _ in views(stores)}
    assert len(names) == 2
    assert {re.sub(r"[0-9a-f]{12}$", "", name) for name in names} == {"session "}
    assert list_records(stores.database).rows[0].id == "r1"


def test_a_forged_acknowledgement_is_refused(
    reader: Callable[[str], TestClient], tokens: dict[str, str]
) -> None:
    """The real form's address, from another site, with the session's cookie."""
    browser = TestClient(reader("viewer").app, follow_redirects=False)
    browser.post("/sign-in", data={"token": tokens["investigator"]})
    forged = {"name": "x", "note": "y"}
    for path in ("/breaches/b1/acknowledge", "/breaches/b1/mark"):
        for headers in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            answer = browser.post(path, data=forged, headers=headers)
            assert (path, answer.status_code) == (path, 403)
