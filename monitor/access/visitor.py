"""Who is behind a request, as pages and routes see it."""

from __future__ import annotations

from fastapi import Request
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.types import Scope

from monitor.access.policy import AccessPolicy, Role
from monitor.access.session import Session, Sessions, known_as
from monitor.ports import Clock

FORM_FIELD = "csrf"
_KEY = "hss.visitor"
_BEARER = "bearer "


class Visitor:
    """What one request may do and see."""

    def __init__(
        self,
        *,
        role: Role | None,
        token_shown: bool,
        session: Session | None,
        policy: AccessPolicy,
        sessions: Sessions,
        clock: Clock,
    ) -> None:
        self.role = role
        """Of the token that was shown, now or at signing in; `None` without a valid one."""
        self.token_shown = token_shown
        """Whether the request itself shows a token, right or wrong."""
        self.session = session
        """Of the browser; `None` where it has none, or a token goes before."""
        self.new_session: Session | None = None
        """Begun for a form of a browser that has none; its cookie goes with the answer."""
        self.sees_texts = policy.shows_texts(role)
        """Whether documents and summaries may be shown."""
        self.may_change = policy.allows(role, Role.INVESTIGATOR)
        """Whether breaches may be acknowledged and records marked."""
        self._sessions = sessions
        self._clock = clock

    @property
    def signed_in(self) -> bool:
        """Whether there is something to sign out of."""
        return self.role is not None and self.session is not None

    @property
    def title(self) -> str:
        """The role, for people and audits."""
        return self.role.value if self.role is not None else "anybody"

    @property
    def name(self) -> str:
        """For audits: the session by its hash, the bearer of a token, or nobody in particular."""
        if self.role is None:
            return "anybody"
        return "token" if self.session is None else f"session {known_as(self.session)}"

    def form_token(self) -> str:
        """The hidden value without which a form of this visitor is refused."""
        held = self.session or self.new_session
        if held is None:
            held = self.new_session = self._sessions.begin(None, now=self._clock())
        return self._sessions.form_token(held)

    def sent(self, form_token: str) -> bool:
        """Whether a form came from a page of this visitor's own session."""
        return self.session is not None and self._sessions.is_form_token(self.session, form_token)


def recognize(
    request: Request, *, policy: AccessPolicy, sessions: Sessions, clock: Clock
) -> Visitor:
    """The visitor behind a request: by its bearer token, else by its session's cookie."""
    token = _bearer(request.headers.get("authorization", ""))
    session = None
    if token is None:
        cookies = "; ".join(request.headers.getlist("cookie"))
        session = sessions.read(cookies, now=clock())
    role = session.role if session is not None else None
    return Visitor(
        role=role if token is None else policy.role_of(token),
        token_shown=token is not None,
        session=session,
        policy=policy,
        sessions=sessions,
        clock=clock,
    )


def remember(scope: Scope, visitor: Visitor) -> None:
    """Hand the visitor on to the application."""
    scope[_KEY] = visitor


def visitor_of(request: Request) -> Visitor:
    """FastAPI dependency: the visitor of a request that passed the middleware."""
    found: Visitor = request.scope[_KEY]
    return found


@pass_context
def csrf_field(context: Context) -> Markup:
    """For templates: `{{ csrf_field() }}` in every form that changes something.

    The context needs `request`, as Starlette's templates have it.
    """
    token = visitor_of(context["request"]).form_token()
    return Markup('<input type="hidden" name="{}" value="{}">').format(FORM_FIELD, token)


def _bearer(header: str) -> str | None:
    """The token of an `Authorization` header; `None` where it is of another kind."""
    if not header.lower().startswith(_BEARER):
        return None
    return header[len(_BEARER) :].strip()
