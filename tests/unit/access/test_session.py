"""Signed cookies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.access.policy import Role
from monitor.access.session import COOKIE, Session, Sessions, known_as, session_key

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KEY = b"a key for tests only, 32 bytes.."


@pytest.fixture
def sessions() -> Sessions:
    return Sessions(KEY, hours=12)


def header(sessions: Sessions, session: Session) -> str:
    return f"theme=dark; {COOKIE}={sessions.cookie(session)}"


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.INVESTIGATOR])
def test_a_session_is_read_back_until_it_expires(sessions: Sessions, role: Role | None) -> None:
    """Twelve hours are a shift."""
    begun = sessions.begin(role, now=NOW)
    cookie = header(sessions, begun)
    assert sessions.read(cookie, now=NOW + timedelta(hours=11, minutes=59)) == begun
    assert sessions.read(cookie, now=NOW + timedelta(hours=12)) is None


def test_a_changed_cookie_is_no_session(sessions: Sessions) -> None:
    """A viewer must not become an investigator, nor live for ever, by editing a cookie."""
    cookie = sessions.cookie(sessions.begin(Role.VIEWER, now=NOW))
    role, expires, id_, signature = cookie.split(".")
    forged = [
        f"investigator.{expires}.{id_}.{signature}",
        f"{role}.{int(expires) + 1}.{id_}.{signature}",
        f"{role}.{expires}.{id_}x.{signature}",
        f"{role}.{expires}.{id_}.{signature[:-1]}",
        f"{role}.{expires}.{id_}.",
        "",
        "....",
        "ü.1.2.3",
    ]
    assert [sessions.read(f"{COOKIE}={value}", now=NOW) for value in forged] == [None] * len(forged)


def test_a_changed_token_or_hash_key_ends_every_session() -> None:
    """Changing a token is how somebody is locked out."""
    keys = [
        session_key(hash_key, tokens)
        for hash_key in (b"k" * 32, b"l" * 32)
        for tokens in (b"1", b"2")
    ]
    cookies = [Sessions(key, hours=1) for key in keys]
    begun = header(cookies[0], cookies[0].begin(Role.VIEWER, now=NOW))
    assert [each.read(begun, now=NOW) is not None for each in cookies] == [
        True,
        False,
        False,
        False,
    ]


def test_a_form_token_belongs_to_one_session(sessions: Sessions) -> None:
    """One who has a session of his own must not make a form for another's."""
    mine, other = (sessions.begin(Role.VIEWER, now=NOW) for _ in range(2))
    token = sessions.form_token(mine)
    assert sessions.is_form_token(mine, token)
    assert not sessions.is_form_token(other, token)
    assert not sessions.is_form_token(mine, "")


def test_the_name_of_a_session_gives_nothing_away(sessions: Sessions) -> None:
    """It stands in logs, the cookie must not."""
    session = sessions.begin(Role.VIEWER, now=NOW)
    assert known_as(session) not in sessions.cookie(session)
    assert len(known_as(session)) == 12
