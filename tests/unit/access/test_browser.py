"""Signing in, forms, and what other sites try."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from fastapi import APIRouter, FastAPI, Request
from jinja2 import Environment
from starlette.responses import HTMLResponse
from starlette.testclient import TestClient

from monitor.access.cross_site import form_fields
from monitor.access.session import COOKIE
from monitor.access.visitor import csrf_field, visitor_of

TEMPLATES = Environment(autoescape=True)
TEMPLATES.globals["csrf_field"] = csrf_field
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def pages(app: FastAPI) -> FastAPI:
    """The front with a page of a form, and a route that changes something."""
    return with_pages(app)


def with_pages(app: FastAPI) -> FastAPI:
    router = APIRouter()

    @router.get("/form")
    def form(request: Request) -> HTMLResponse:
        template = TEMPLATES.from_string("<form>{{ csrf_field() }}</form>")
        return HTMLResponse(template.render(request=request))

    @router.post("/change")
    async def change(request: Request) -> dict[str, object]:
        return {"form": form_fields(await request.body()), "who": visitor_of(request).title}

    app.include_router(router)
    return app


def signed_in(app: FastAPI, token: str, base_url: str = "http://testserver") -> TestClient:
    client = TestClient(app, base_url=base_url, follow_redirects=False)
    assert client.post("/sign-in", data={"token": token, "next": "/form"}).status_code == 303
    return client


def csrf_of(client: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/form").text)
    assert found is not None
    return found.group(1)


def test_a_browser_without_a_session_gets_the_form_to_sign_in(client: TestClient) -> None:
    """401 for machines and people alike; people see what to do."""
    answer = client.get("/records?service=a", headers={"accept": "text/html,*/*"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (
        401,
        'Bearer realm="hss-monitor"',
    )
    assert 'name="next" value="/records?service=a"' in answer.text
    assert 'action="/sign-in"' in answer.text
    odd = client.get("/records/a b%2Fc", headers={"accept": "text/html"})
    assert 'name="next" value="/records/a%20b/c"' in odd.text


def test_a_token_opens_a_session_that_no_script_and_no_other_site_can_use(
    pages: FastAPI, tokens: dict[str, str]
) -> None:
    """The token itself is not kept in the browser."""
    client = TestClient(pages, follow_redirects=False)
    answer = client.post("/sign-in", data={"token": tokens["viewer"], "next": "/records/1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/records/1")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert tokens["viewer"] not in cookie
    assert client.get("/api/status").status_code == 200


@pytest.mark.parametrize(
    ("base_url", "headers"),
    [
        ("https://testserver", {}),
        ("http://testserver", {"x-forwarded-proto": "https"}),
    ],
)
def test_behind_https_the_session_never_goes_in_clear(
    client: TestClient, tokens: dict[str, str], base_url: str, headers: dict[str, str]
) -> None:
    """Also where a proxy ends TLS."""
    data = {"token": tokens["viewer"]}
    answer = client.post(f"{base_url}/sign-in", data=data, headers=headers)
    assert "Secure" in answer.headers["set-cookie"].split("; ")


@pytest.mark.parametrize("given", ["guess", "", "ingest", "metrics"])
def test_other_tokens_open_no_session(
    client: TestClient, tokens: dict[str, str], given: str
) -> None:
    """A service's token is not a person's."""
    answer = client.post("/sign-in", data={"token": tokens.get(given, given)})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "next_", ["//evil.example/", "https://evil.example", "/\\evil.example", "\n/x", "javascript:1"]
)
def test_signing_in_leads_nowhere_else(
    client: TestClient, tokens: dict[str, str], next_: str
) -> None:
    """A link to the sign-in page must not send a person who trusts it elsewhere."""
    answer = client.post("/sign-in", data={"token": tokens["viewer"], "next": next_})
    assert answer.headers["location"] == "/"


def test_a_viewer_changes_nothing_and_an_investigator_does(
    pages: FastAPI, tokens: dict[str, str]
) -> None:
    """In a browser as with a token."""
    told = {}
    for role in ("viewer", "investigator"):
        client = signed_in(pages, tokens[role])
        data = {"csrf": csrf_of(client), "note": "é & ="}
        told[role] = client.post("/change", data=data)
    assert told["viewer"].status_code == 403
    assert told["investigator"].json()["form"]["note"] == "é & ="
    assert told["investigator"].json()["who"] == "investigator"


def test_signing_out_ends_the_session(pages: FastAPI, tokens: dict[str, str]) -> None:
    """On a shared screen."""
    client = signed_in(pages, tokens["viewer"])
    assert client.post("/sign-out", data={"csrf": csrf_of(client)}).status_code == 303
    assert client.get("/api/status").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "https://["},
        {"origin": "null"},
        {"origin": "http://testserver:9999"},
        {"origin": "http://testserver.evil.example"},
    ],
)
def test_another_sites_request_changes_nothing(
    pages: FastAPI, tokens: dict[str, str], headers: dict[str, str]
) -> None:
    """Whatever it carries, the browser says where it comes from."""
    client = signed_in(pages, tokens["investigator"])
    data = {"csrf": csrf_of(client)}
    assert client.post("/change", data=data, headers=headers).status_code == 403
    assert client.post("/change", json=data, headers=headers).status_code == 403
    assert client.post("/change", data=data).status_code == 200


def test_a_form_without_its_sessions_token_changes_nothing(
    pages: FastAPI, tokens: dict[str, str]
) -> None:
    """Against browsers that say nothing about where a request comes from."""
    client, other = (signed_in(pages, tokens["investigator"]) for _ in range(2))
    forms: list[dict[str, str | list[str]]] = [
        {},
        {"csrf": ""},
        {"csrf": "0" * 64},
        {"csrf": csrf_of(other)},
    ]
    assert {client.post("/change", data=form).status_code for form in forms} == {403}


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_what_a_page_could_send_elsewhere_is_not_taken(
    pages: FastAPI, tokens: dict[str, str], content_type: str
) -> None:
    """A form may be sent as plain text that reads as JSON."""
    client = signed_in(pages, tokens["investigator"])
    headers = {"content-type": content_type} if content_type else {}
    assert client.post("/change", content=b'{"a":1}', headers=headers).status_code == 403


def test_an_endless_form_is_not_read(pages: FastAPI, tokens: dict[str, str]) -> None:
    """A note has a few words."""
    client = signed_in(pages, tokens["investigator"])
    body = b"note=" + b"x" * 70_000
    assert client.post("/change", content=body, headers=FORM).status_code == 413


def test_forms_work_and_forged_ones_do_not_where_no_token_is_needed(
    make_app: Callable[..., FastAPI],
) -> None:
    """Any page in the browser of who runs an open sidecar could post to 127.0.0.1."""
    client = TestClient(with_pages(make_app()), base_url="http://127.0.0.1:8318")
    assert client.post("/change", data={"csrf": "x"}).status_code == 403
    token = csrf_of(client)
    assert COOKIE in client.cookies
    assert client.post("/change", data={"csrf": token}).json()["who"] == "anybody"
    evil = {"origin": "https://evil.example"}
    assert client.post("/change", data={"csrf": token}, headers=evil).status_code == 403
    made_up = {"authorization": "Bearer x", **evil}  # which proves nothing where nobody asks for it
    assert client.post("/change", data={"csrf": token}, headers=made_up).status_code == 403
    assert client.post("/change", json={}).status_code == 200, "curl and scripts send JSON"


def test_a_script_with_a_token_needs_no_form_token(pages: FastAPI, tokens: dict[str, str]) -> None:
    """No browser adds a bearer token by itself."""
    client = TestClient(pages)
    headers = {"authorization": f"Bearer {tokens['investigator']}", **FORM}
    assert client.post("/change", content=b"note=a", headers=headers).status_code == 200


def test_a_link_from_elsewhere_asks_once_more_with_the_cookie(client: TestClient) -> None:
    """A strict cookie stays away when somebody follows an alert's link; a reload brings it."""
    refresh = 'http-equiv="refresh" content="0;url=/breaches/b1"'
    html = {"accept": "text/html"}
    followed = client.get("/breaches/b1", headers={**html, "sec-fetch-site": "cross-site"})
    assert refresh in followed.text
    again = client.get("/breaches/b1", headers={**html, "sec-fetch-site": "same-origin"})
    assert "refresh" not in again.text
    old_browser = client.get("/breaches/b1", headers={**html, "referer": "https://chat.example/"})
    assert refresh in old_browser.text


def test_a_path_that_reads_like_another_site_leads_nowhere(client: TestClient) -> None:
    """`//evil.example` behind our address is a path to us, and a site to a browser that is sent
    there once more."""
    headers = {"accept": "text/html", "sec-fetch-site": "cross-site"}
    answer = client.get("http://testserver//evil.example/x", headers=headers)
    assert answer.status_code == 401
    assert 'content="0;url=/"' in answer.text
    assert "evil.example" not in answer.text


def test_a_change_is_not_asked_for_again(client: TestClient) -> None:
    """Neither by itself nor by signing in: another site may have sent it."""
    headers = {"accept": "text/html", "sec-fetch-site": "cross-site"}
    answer = client.post("/breaches/b1/acknowledge", headers=headers)
    assert answer.status_code == 401
    assert "refresh" not in answer.text
    assert 'name="next" value="/"' in answer.text


def test_what_a_page_shows_of_an_address_is_text(client: TestClient) -> None:
    """The address comes from whoever made the link."""
    answer = client.get('/"><script>alert(1)</script>', headers={"accept": "text/html"})
    assert "<script>" not in answer.text
