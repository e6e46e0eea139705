"""Signing in with a token, signing out, and the page that says why something is refused."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

import structlog
from fastapi import APIRouter, Query
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

import monitor
from monitor.access.cross_site import form_fields
from monitor.access.policy import AccessPolicy, Role
from monitor.access.session import COOKIE, Session, Sessions, known_as
from monitor.access.wrong_tokens import WrongTokens
from monitor.errors import MalformedInput
from monitor.ports import Clock

log = structlog.get_logger(__name__)

SIGN_IN = "/sign-in"
SIGN_OUT = "/sign-out"
_PAGES = Environment(
    loader=PackageLoader("monitor.access", "."), autoescape=True, undefined=StrictUndefined
)
_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A path of ours: no scheme, no host, no backslash, which a browser takes for a slash."""


def refusal_page(
    problem: str | None,
    *,
    status: int,
    form: bool,
    next_: str = "/",
    again: bool = False,
    wait: int | None = None,
) -> HTMLResponse:
    """A page that says what is wrong, with the form to sign in where that would help.

    With `again` it asks once more for where the person wanted to go: a browser that follows a
    link of another site leaves the session's cookie out, and sends it with the second request.
    `wait` is the number of seconds after which another try is answered.
    """
    body = _PAGES.get_template("sign_in.html").render(
        title="Sign in" if form else "Refused",
        problem=problem,
        form=form,
        next=own_path(next_),
        again=again,
        # Another one than before an upgrade: style sheets are cached.
        version=monitor.__version__,
    )
    headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="hss-monitor"'
    if wait is not None:
        headers["Retry-After"] = str(wait)
    return HTMLResponse(body, status, headers=headers)


def too_many(wait: int) -> str:
    """What is said to a wrong token after too many."""
    return (
        f"wrong tokens were shown too often; try again in {wait} seconds "
        "(the right one works at once)"
    )


def own_path(given: str) -> str:
    """Where to go after signing in: only within these pages.

    >>> own_path("/records/1?x=2"), own_path("//elsewhere.example"), own_path("https://a.b")
    ('/records/1?x=2', '/', '/')
    """
    return given if _OWN_PATH.fullmatch(given) else "/"


def set_cookie(
    headers: MutableHeaders, sessions: Sessions, session: Session, *, secure: bool
) -> None:
    """Give a browser its session: no script reads it, no other site's request carries it."""
    answer = Response()
    answer.set_cookie(
        COOKIE,
        sessions.cookie(session),
        expires=session.expires,
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    headers.append("set-cookie", answer.headers["set-cookie"])


def is_https(request: Request, *, public_url: str | None) -> bool:
    """Whether the browser comes by https, also where a proxy in front of us ends it."""
    forwarded = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return "https" in {request.scope["scheme"], forwarded, urlsplit(public_url or "").scheme}


def sign_in_router(
    policy: AccessPolicy,
    sessions: Sessions,
    *,
    wrong_tokens: WrongTokens,
    clock: Clock,
    public_url: str | None,
) -> APIRouter:
    """`GET` and `POST /sign-in`, `POST /sign-out`."""
    router = APIRouter(include_in_schema=False)

    @router.get(SIGN_IN, response_class=HTMLResponse)
    async def page(next_: Annotated[str, Query(alias="next")] = "/") -> Response:
        return refusal_page(None, status=200, form=True, next_=next_)

    @router.post(SIGN_IN, response_model=None)
    async def sign_in(request: Request) -> Response:
        try:
            form = form_fields(await request.body())
        except MalformedInput as error:
            return refusal_page(str(error), status=400, form=True)
        next_ = form.get("next", "/")
        role = policy.role_of(form.get("token", "").strip())
        if role not in {Role.VIEWER, Role.INVESTIGATOR}:
            wait = wrong_tokens.shown()
            if wait is not None:
                return refusal_page(too_many(wait), status=429, form=True, next_=next_, wait=wait)
            log.warning("sign_in_refused", role=role)
            problem = "This is no token of a viewer or an investigator."
            return refusal_page(problem, status=401, form=True, next_=next_)
        session = sessions.begin(role, now=clock())
        log.info("signed_in", role=role, session=known_as(session))
        response = RedirectResponse(own_path(next_), 303)
        secure = is_https(request, public_url=public_url)
        set_cookie(response.headers, sessions, session, secure=secure)
        return response

    @router.post(SIGN_OUT, response_model=None)
    async def sign_out(request: Request) -> Response:
        response = RedirectResponse(SIGN_IN, 303)
        secure = is_https(request, public_url=public_url)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=secure)
        return response

    return router
