"""Wrong tokens that are too many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.testclient import TestClient

from monitor.access.wrong_tokens import MOST, WrongTokens

START = datetime(2026, 3, 1, tzinfo=UTC)


class Clock:
    """A clock that tests put where they want it."""

    now = START

    def __call__(self) -> datetime:
        return self.now


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_waiting_ends_a_minute_after_the_first_of_ten() -> None:
    """A sliding window: whoever waits as long as told is answered."""
    clock = Clock()
    wrong = WrongTokens(clock=clock, most=2)
    assert wrong.shown() is None
    clock.now = START + timedelta(seconds=20)
    assert wrong.shown() is None
    clock.now = START + timedelta(seconds=30.5)
    assert wrong.shown() == 30
    clock.now = START + timedelta(seconds=60.5)
    assert wrong.shown() is None
    assert wrong.shown() == 20


def test_tries_while_waiting_do_not_make_the_wait_longer() -> None:
    """Else a script that goes on would keep a person out who mistyped once."""
    clock = Clock()
    wrong = WrongTokens(clock=clock, most=1)
    wrong.shown()
    clock.now = START + timedelta(seconds=59)
    assert [wrong.shown() for _ in range(3)] == [1, 1, 1]
    clock.now = START + timedelta(seconds=60)
    assert wrong.shown() is None


def test_a_clock_that_was_put_back_makes_nobody_wait_longer() -> None:
    """Virtual machines do that."""
    clock = Clock()
    wrong = WrongTokens(clock=clock, most=1)
    wrong.shown()
    clock.now = START - timedelta(days=1)
    assert wrong.shown() == 60


def test_people_who_try_too_often_are_told_to_wait(client: TestClient) -> None:
    """The form and the header count together."""
    for _ in range(MOST // 2):
        assert client.post("/sign-in", data={"token": "wrong"}).status_code == 401
        assert client.get("/api/records", headers=bearer("wrong")).status_code == 401
    form = client.post("/sign-in", data={"token": "wrong"})
    api = client.get("/api/records", headers=bearer("wrong"))
    for answer in (form, api):
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert "try again in" in answer.text


def test_nobody_can_lock_out_the_holder_of_a_right_token(
    client: TestClient, tokens: dict[str, str]
) -> None:
    """Neither at the form, nor with the header, nor in a session."""
    for _ in range(MOST + 1):
        last = client.post("/sign-in", data={"token": "wrong"})
    assert last.status_code == 429
    assert client.get("/api/records", headers=bearer(tokens["viewer"])).status_code == 200
    assert client.post("/sign-in", data={"token": tokens["viewer"]}).status_code == 303
    assert client.get("/api/records").status_code == 200, "by the session's cookie"


def test_without_a_token_nobody_is_counted(client: TestClient) -> None:
    """Every browser comes without one at first."""
    for _ in range(MOST + 1):
        assert client.get("/api/records").status_code == 401
    assert client.post("/sign-in", data={"token": "wrong"}).status_code == 401


def test_senders_and_scrapers_go_on_reading_that_their_token_is_wrong(client: TestClient) -> None:
    """An exporter would try again after a 429, and its queue fill up."""
    for _ in range(MOST + 1):
        sent = client.post("/v1/records", json={}, headers=bearer("wrong"))
        scraped = client.get("/metrics", headers=bearer("wrong"))
    assert (sent.status_code, scraped.status_code) == (401, 401)
    assert client.post("/sign-in", data={"token": "wrong"}).status_code == 401
