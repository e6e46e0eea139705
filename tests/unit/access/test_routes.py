"""Every route of the front, by token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from monitor.access.policy import Role, needed_role

OPEN = {"/healthz", "/readyz", "/sign-in"}
LESSER = {
    Role.INGEST: ("viewer", "investigator", "metrics"),
    Role.METRICS: ("viewer", "investigator", "ingest"),
    Role.VIEWER: ("ingest", "metrics"),
    Role.INVESTIGATOR: ("viewer", "ingest", "metrics"),
}


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """(method, path) of everything that the application answers."""
    for route in iter_route_contexts(app.routes):
        assert route.path, f"{route} hides what it answers"
        path = re.sub(r"\{[^}]*\}", "x", route.path)
        for method in sorted(route.methods or {"GET"}):
            yield method, path


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_every_route_is_closed_without_the_right_token(
    app: FastAPI, client: TestClient, tokens: dict[str, str]
) -> None:
    """None: 401; a wrong one: 401, or 429 after too many; a lesser role's: 403; the right one: none
    of these."""
    walked, refusals = set(), set()
    for method, path in routes(app):
        needed = needed_role(method, path)
        if needed is None:
            continue
        walked.add(path)
        call = f"{method} {path}"
        without = client.request(method, path)
        wrong = client.request(method, path, headers=bearer("guess"))
        assert (call, without.status_code) == (call, 401)
        assert (call, wrong.status_code in {401, 429}) == (call, True)
        refusals.add(wrong.status_code)
        assert without.headers["www-authenticate"] == 'Bearer realm="hss-monitor"'
        if wrong.status_code == 401:
            assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
        lesser = [
            client.request(method, path, headers=bearer(tokens[role])).status_code
            for role in LESSER[needed]
        ]
        assert (call, lesser) == (call, [403] * len(lesser))
        right = client.request(method, path, headers=bearer(tokens[needed]))
        assert (call, right.status_code in {401, 403, 429}) == (call, False)
    assert refusals == {401, 429}
    assert walked >= {"/v1/records", "/v1/traces", "/v1/logs", "/metrics", "/api/status"}


def test_what_is_open_tells_nothing_about_records(app: FastAPI, client: TestClient) -> None:
    """Probes need no token; a route that joins them here was opened on purpose."""
    found = {path for method, path in routes(app) if needed_role(method, path) is None}
    assert {path for path in found if not path.startswith("/static")} == OPEN | {"/sign-out"}
    assert {client.get(path).status_code for path in OPEN} == {200}


def test_an_unknown_address_does_not_tell_whether_it_exists(client: TestClient) -> None:
    """Only who may read learns that there is nothing."""
    assert client.get("/no/such/page").status_code == 401


def test_without_tokens_everything_is_open(open_client: TestClient) -> None:
    """The default on one's own machine."""
    calls = [open_client.get("/api/status"), open_client.get("/metrics")]
    calls.append(open_client.post("/v1/records", json=[]))
    assert [answer.status_code for answer in calls] == [200, 200, 200]


def test_a_refused_record_is_counted(client: TestClient, tokens: dict[str, str]) -> None:
    """A sender with an old token shows in the metrics."""
    client.post("/v1/records", json=[])
    told = client.get("/metrics", headers=bearer(tokens["metrics"])).text
    assert 'hss_ingest_rejected_total{status="401"} 1.0' in told


@pytest.mark.parametrize("path", ["/healthz", "/api/status", "/metrics", "/sign-in", "/nowhere"])
def test_every_answer_has_its_security_headers(client: TestClient, path: str) -> None:
    """Also a refusal and a missing page are pages that a browser shows."""
    headers = client.get(path).headers
    policy = headers["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert {"form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} <= set(policy)
    assert not [part for part in policy if part.startswith("script-src") or "unsafe" in part]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_a_start_that_others_can_reach_warns_of_what_is_open(
    make_app: Callable[..., FastAPI], capsys: pytest.CaptureFixture[str]
) -> None:
    """`http.host: 0.0.0.0` in a container is easily written and easily forgotten."""
    make_app({"viewer_token": "v"}, http={"host": "127.0.0.1"})
    assert "access_open" not in capsys.readouterr().out
    make_app({"viewer_token": "v"}, http={"host": "0.0.0.0"})  # noqa: S104 -- not bound
    told = capsys.readouterr().out
    assert "access_open" in told
    assert "['ingest', 'metrics']" in told
    assert "access.<role>_token_file" in told


def test_a_borrowed_name_reads_nothing_from_this_machine(
    open_client: TestClient, make_app: Callable[..., FastAPI]
) -> None:
    """A page may let its own name point to 127.0.0.1; its script then is of the same origin."""
    asked = {
        host: open_client.get("/api/status", headers={"host": host}).status_code
        for host in ("127.0.0.1:8318", "localhost:8318", "[::1]:8318", "evil.example:8318", "[::1")
    }
    assert asked == {
        "127.0.0.1:8318": 200,
        "localhost:8318": 200,
        "[::1]:8318": 200,
        "evil.example:8318": 421,
        "[::1": 421,
    }
    named = TestClient(make_app(outlets={"public_url": "https://hss.example.org"}))
    assert named.get("/api/status", headers={"host": "hss.example.org"}).status_code == 200


def test_no_token_is_ever_logged(
    app: FastAPI, tokens: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    """Right or wrong, shown or typed."""
    client = TestClient(app, follow_redirects=False)
    typed = [*tokens.values(), "nearly-right-token"]
    for token in typed:
        client.get("/api/status", headers=bearer(token))
        client.post("/v1/records", headers=bearer(token), content=b"{")
        client.post("/sign-in", data={"token": token})
    told = "".join(capfd.readouterr())
    assert "sign_in_refused" in told
    assert [token for token in typed if token in told] == []
