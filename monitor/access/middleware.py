"""The one place that every request passes before a route sees it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.access.cross_site import (
    FORM,
    JSON,
    content_type,
    form_fields,
    is_borrowed_name,
    is_followed_link,
    is_from_elsewhere,
)
from monitor.access.headers import harden
from monitor.access.policy import CHANGES_NOTHING, STATIC, AccessPolicy, Role, needed_role
from monitor.access.session import Sessions
from monitor.access.sign_in import SIGN_IN, is_https, refusal_page, set_cookie, too_many
from monitor.access.visitor import FORM_FIELD, Visitor, recognize, remember
from monitor.access.wrong_tokens import WrongTokens
from monitor.errors import MalformedInput
from monitor.ports import Clock

_FORM_BYTES = 64 * 1024
_FOR_PEOPLE = frozenset({Role.VIEWER, Role.INVESTIGATOR})


class AccessMiddleware:
    """Lets a request through with a `Visitor`, or refuses it.

    401 without a valid token, 403 with one of a lesser role and for what another site made a
    browser send, 413 for an endless form, 421 for a name that is not ours, 429 for wrong tokens
    of people that are too many. `public_url` is the
    address by which people reach the pages; `local_only` says that nothing but this machine
    reaches the port; `refused` is told the status of each refused ingest request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        policy: AccessPolicy,
        sessions: Sessions,
        wrong_tokens: WrongTokens,
        clock: Clock,
        public_url: str | None = None,
        local_only: bool = False,
        refused: Callable[[int], None] = lambda status: None,
    ) -> None:
        self._app = app
        self._policy = policy
        self._sessions = sessions
        self._wrong_tokens = wrong_tokens
        self._clock = clock
        self._public_url = public_url
        self._local_only = local_only
        self._count_refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        visitor = recognize(
            request, policy=self._policy, sessions=self._sessions, clock=self._clock
        )
        remember(scope, visitor)
        needed = needed_role(request.method, scope["path"])
        answer = self._without_right(request, visitor, needed)
        if answer is None and _may_be_forged(request, visitor, needed):
            answer, receive = await self._forged(request, visitor)

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                harden(headers, private=not scope["path"].startswith(STATIC))
                self._hand_out(request, visitor, headers)
            await send(message)

        await (answer or self._app)(scope, receive, hardened)

    def _without_right(
        self, request: Request, visitor: Visitor, needed: Role | None
    ) -> Response | None:
        """The refusal of a visitor whose role does not reach."""
        host = request.headers.get("host", "")
        if (
            needed in _FOR_PEOPLE
            and visitor.role is None
            and self._local_only
            and is_borrowed_name(host, public_url=self._public_url)
        ):
            problem = f"{host[:80]!r} is no name of this sidecar; ask for it by its address"
            return self._refusal(request, needed, 421, problem)
        if needed is None or self._policy.allows(visitor.role, needed):
            return None
        if visitor.role is None:
            if not visitor.token_shown:
                return self._refusal(request, needed, 401, "this needs a token")
            wait = self._wrong_tokens.shown() if needed in _FOR_PEOPLE else None
            if wait is not None:
                return self._refusal(request, needed, 429, too_many(wait), wait=wait)
            return self._refusal(request, needed, 401, "the token is wrong")
        problem = f"the role {visitor.role.value!r} may not do this"
        return self._refusal(request, needed, 403, problem)

    async def _forged(self, request: Request, visitor: Visitor) -> tuple[Response | None, Receive]:
        """The refusal of what another site may have sent, and the body to go on with."""

        def refusal(problem: str, status: int = 403) -> tuple[Response, Receive]:
            return self._refusal(request, None, status, problem), request.receive

        if is_from_elsewhere(request.headers, public_url=self._public_url):
            return refusal("another site sent this; do it from these pages")
        kind = content_type(request.headers)
        if kind == JSON:
            return None, request.receive
        if kind != FORM:
            return refusal(f"the content type is {kind[:80]!r}; send {JSON}, or the page's form")
        body = await _read(request.receive)
        if body is None:
            return refusal(f"the form is larger than {_FORM_BYTES} bytes", 413)
        try:
            token = form_fields(body).get(FORM_FIELD, "")
        except MalformedInput:
            token = ""
        if request.scope["path"] != SIGN_IN and not visitor.sent(token):
            return refusal("the form is not of this session; load its page again")
        return None, _again(body, request.receive)

    def _refusal(
        self,
        request: Request,
        needed: Role | None,
        status: int,
        problem: str,
        *,
        wait: int | None = None,
    ) -> Response:
        if needed is Role.INGEST:
            self._count_refused(status)
        # A form is sent from a page, whatever is asked for in answer.
        form = content_type(request.headers) == FORM
        if form or "text/html" in request.headers.get("accept", ""):
            query = request.scope["query_string"].decode("latin-1")
            path = quote(request.scope["path"]) + (f"?{query}" if query else "")
            asks = status == 401 and needed in _FOR_PEOPLE
            reads = request.method in CHANGES_NOTHING
            again = (
                asks and reads and is_followed_link(request.headers, public_url=self._public_url)
            )
            # What was to be changed is not done by signing in.
            path = path if reads else "/"
            return refusal_page(
                problem, status=status, form=asks, next_=path, again=again, wait=wait
            )
        response = JSONResponse({"detail": problem}, status)
        if status == 401:
            error = ', error="invalid_token"' if "wrong" in problem else ""
            response.headers["WWW-Authenticate"] = f'Bearer realm="hss-monitor"{error}'
        if wait is not None:
            response.headers["Retry-After"] = str(wait)
        return response

    def _hand_out(self, request: Request, visitor: Visitor, headers: MutableHeaders) -> None:
        """The cookie of a session that a form of this page was bound to."""
        if visitor.new_session is not None:
            secure = is_https(request, public_url=self._public_url)
            set_cookie(headers, self._sessions, visitor.new_session, secure=secure)


def _may_be_forged(request: Request, visitor: Visitor, needed: Role | None) -> bool:
    """Whether a browser might send this with the person not knowing: no bearer token says no.

    What ingest takes is none of the content types that a page can send to another site.
    """
    if request.method in CHANGES_NOTHING or needed in {Role.INGEST, Role.METRICS}:
        return False
    return not (visitor.token_shown and visitor.role is not None)


async def _read(receive: Receive) -> bytes | None:
    """The whole body; `None` where it is larger than a form may be."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _FORM_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read already, then goes on."""
    given = False

    async def first_the_body() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return first_the_body
