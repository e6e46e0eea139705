"""Browser sessions: a signed cookie, so that no replica has to remember who signed in.

A cookie reads `role.expires.id.signature`. The key is made of the installation's hash key and
of the tokens: replicas that share both accept each other's sessions, a restart keeps them, and
a changed token ends them all. A session without a role belongs to a browser that needed no
token; it exists only for the forms to be bound to something.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from starlette.requests import cookie_parser

from monitor.access.policy import Role

COOKIE = "hss_session"
_NOBODY = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One browser, from signing in until it expires."""

    id: str
    """Random; never shown: logs and audits name its hash."""
    role: Role | None
    expires: datetime


class Sessions:
    """Makes and reads the cookies of one installation."""

    def __init__(self, key: bytes, *, hours: float) -> None:
        self._key = key
        self._life = timedelta(hours=hours)

    def begin(self, role: Role | None, *, now: datetime) -> Session:
        """A new session; ids are never taken from a request, so none can be planted."""
        return Session(
            id=secrets.token_urlsafe(18),
            role=role,
            # A cookie has whole seconds.
            expires=(now + self._life).replace(microsecond=0),
        )

    def cookie(self, session: Session) -> str:
        """The value of the cookie."""
        text = f"{session.role or _NOBODY}.{int(session.expires.timestamp())}.{session.id}"
        return f"{text}.{self._sign('session', text)}"

    def read(self, header: str, *, now: datetime) -> Session | None:
        """The session of a `Cookie` header; `None` where there is no valid one."""
        text, _, signature = cookie_parser(header).get(COOKIE, "").rpartition(".")
        if not hmac.compare_digest(self._sign("session", text).encode(), signature.encode()):
            return None
        role, expires, id_ = text.split(".")
        session = Session(
            id=id_,
            role=None if role == _NOBODY else Role(role),
            expires=datetime.fromtimestamp(int(expires), UTC),
        )
        return session if now < session.expires else None

    def form_token(self, session: Session) -> str:
        """What a form of this session carries; another site cannot know it."""
        return self._sign("form", session.id)

    def is_form_token(self, session: Session, token: str) -> bool:
        """Whether a form carried the token of this session."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode())

    def _sign(self, purpose: str, text: str) -> str:
        data = f"{purpose}\n{text}".encode()
        return hmac.new(self._key, data, hashlib.sha256).hexdigest()


def session_key(hash_key: bytes, tokens: bytes) -> bytes:
    """The key of the signatures, from the installation's key and a digest of its tokens.

    Of the tokens alone it could be guessed by whoever knows one of them.
    """
    return hmac.new(hash_key, b"hss-monitor sessions\n" + tokens, hashlib.sha256).digest()


def known_as(session: Session) -> str:
    """A name for logs and audits from which the cookie cannot be made."""
    return hashlib.sha256(session.id.encode()).hexdigest()[:12]
