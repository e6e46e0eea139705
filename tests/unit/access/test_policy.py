"""Roles and their tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from monitor.access.policy import AccessPolicy, Role, needed_role, policy_of
from monitor.errors import ConfigurationError
from monitor.settings.access import Access

ALL = {role: f"token-of-{role}" for role in Role}


def may(policy: AccessPolicy, held: Role | None) -> set[str]:
    return {role.value for role in Role if policy.allows(held, role)}


def test_each_token_opens_its_own_routes_and_the_investigators_also_the_viewers() -> None:
    """A scraper's token in a dashboard must not open the texts."""
    policy = AccessPolicy(ALL, texts=Role.VIEWER)
    assert {role: may(policy, role) for role in (None, *Role)} == {
        None: set(),
        Role.INGEST: {"ingest"},
        Role.METRICS: {"metrics"},
        Role.VIEWER: {"viewer"},
        Role.INVESTIGATOR: {"viewer", "investigator"},
    }


@pytest.mark.parametrize(
    ("configured", "open_"),
    [
        (set(), {"ingest", "metrics", "viewer", "investigator"}),
        ({Role.INGEST}, {"metrics", "viewer", "investigator"}),
        ({Role.VIEWER}, {"ingest", "metrics"}),
        ({Role.INVESTIGATOR}, {"ingest", "metrics", "viewer"}),
        (set(Role), set()),
    ],
)
def test_without_a_token_of_its_own_a_role_is_open_but_never_wider_than_reading(
    configured: set[Role], open_: set[str]
) -> None:
    """With a viewer's token alone, acknowledging must not be open to everybody."""
    policy = AccessPolicy({role: ALL[role] for role in configured}, texts=Role.VIEWER)
    assert may(policy, None) == open_
    assert {role.value for role in policy.open_roles} == open_


def test_a_viewer_investigates_where_there_is_no_investigator() -> None:
    """One token is enough for a small team."""
    policy = AccessPolicy({Role.VIEWER: "v"}, texts=Role.VIEWER)
    assert may(policy, Role.VIEWER) >= {"viewer", "investigator"}


@pytest.mark.parametrize(
    ("texts", "seen_by"),
    [
        (Role.VIEWER, {Role.VIEWER, Role.INVESTIGATOR}),
        (Role.INVESTIGATOR, {Role.INVESTIGATOR}),
    ],
)
def test_texts_are_shown_to_the_configured_role_only(texts: Role, seen_by: set[Role]) -> None:
    """Ingest and metrics tokens show no texts either way."""
    policy = AccessPolicy(ALL, texts=texts)
    assert {role for role in (None, *Role) if policy.shows_texts(role)} == seen_by


@pytest.mark.parametrize("token", ["token-of-viewe", "token-of-viewer ", "TOKEN-OF-VIEWER", ""])
def test_a_token_that_is_nearly_right_is_wrong(token: str) -> None:
    """Neither a prefix nor another case will do."""
    assert AccessPolicy(ALL, texts=Role.VIEWER).role_of(token) is None


def test_every_token_stands_for_its_role() -> None:
    """The comparison goes through all of them."""
    policy = AccessPolicy(ALL, texts=Role.VIEWER)
    assert {policy.role_of(token) for token in ALL.values()} == set(Role)


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        ("POST", "/v1/records", Role.INGEST),
        ("GET", "/v1/anything", Role.INGEST),
        ("GET", "/metrics", Role.METRICS),
        ("POST", "/metrics", Role.METRICS),
        ("GET", "/", Role.VIEWER),
        ("HEAD", "/records/1", Role.VIEWER),
        ("GET", "/metrics/", Role.VIEWER),
        ("POST", "/breaches/1/acknowledge", Role.INVESTIGATOR),
        ("DELETE", "/what/comes/later", Role.INVESTIGATOR),
        ("GET", "/healthz", None),
        ("GET", "/readyz", None),
        ("POST", "/sign-in", None),
        ("GET", "/static/style.css", None),
        ("GET", "/healthz/more", Role.VIEWER),
    ],
)
def test_what_is_not_named_is_closed(method: str, path: str, role: Role | None) -> None:
    """A route that somebody adds later must not be open by oversight."""
    assert needed_role(method, path) is role


@pytest.mark.parametrize(
    ("access", "message"),
    [
        ({"viewer_token": ""}, r"access\.viewer_token: it is empty.*openssl rand"),
        ({"viewer_token": "two words"}, r"access\.viewer_token: .*blank"),
        ({"ingest_token": "päss"}, r"access\.ingest_token: .*no header"),
        ({"viewer_token": "a", "investigator_token": "a"}, r"two roles have the same token"),
        ({"texts": "investigator", "viewer_token": "a"}, r"access\.texts: .*investigator_token"),
        ({"metrics_token_file": "/nowhere/token"}, r"access\.metrics_token_file: '/nowhere/token'"),
        ({"metrics_token": "a", "metrics_token_file": "b"}, r"keep one of them"),
    ],
)
def test_tokens_that_cannot_work_are_refused_at_the_start(
    access: dict[str, Any], message: str
) -> None:
    """Better no start than routes that are open, or shut, without anybody noticing."""
    with pytest.raises(ConfigurationError, match=message):
        policy_of(Access(**access))


def test_a_token_comes_from_its_file_without_the_line_end(tmp_path: Path) -> None:
    """Editors and `echo` end a file with a line break."""
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    assert policy_of(Access(viewer_token_file=file)).role_of("s3cret") is Role.VIEWER
