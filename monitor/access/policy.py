"""Roles, their tokens, and what each may reach.

A role without a token asks for less, never for more: without an investigator token whoever may
read may also acknowledge, and without a viewer token either everybody who reaches the port may
read. Ingest and metrics stand apart: their tokens open nothing else, and no other token opens
them.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from monitor.errors import ConfigurationError
from monitor.settings.access import Access

CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS"})
_ALWAYS_OPEN = frozenset({"/healthz", "/readyz", "/sign-in", "/sign-out"})
STATIC = "/static/"
"""Style sheets and icons: the same for everybody, and the sign-in page needs them."""
_PRINTABLE = re.compile(r"[!-~]+")


class Role(StrEnum):
    """What a token lets its bearer do."""

    INGEST = "ingest"
    """Send records."""
    METRICS = "metrics"
    """Scrape."""
    VIEWER = "viewer"
    """Read pages and the API."""
    INVESTIGATOR = "investigator"
    """All that a viewer may, see all texts, acknowledge and mark."""


class AccessPolicy:
    """Answers, for a role that a request showed a token of, what it may do.

    Tokens are kept as digests and compared with all of them, in constant time: neither the
    length nor the beginning of a token shows in how long an answer takes.
    """

    def __init__(self, tokens: Mapping[Role, str], *, texts: Role) -> None:
        """Raises `ConfigurationError` for a token that cannot work or stands for two roles."""
        for role, token in tokens.items():
            _require_usable(role, token)
        self._digests = {role: _digest(token) for role, token in tokens.items()}
        if len(set(self._digests.values())) < len(self._digests):
            raise ConfigurationError(
                "access: two roles have the same token, so the lesser one would be the greater; "
                "give each role a token of its own"
            )
        if texts is Role.INVESTIGATOR and texts not in tokens:
            raise ConfigurationError(
                "access.texts: 'investigator' needs an investigator token; set "
                "access.investigator_token_file, or access.texts to 'viewer'"
            )
        self._texts = texts

    @property
    def open_roles(self) -> tuple[Role, ...]:
        """Roles whose routes ask nobody for a token."""
        return tuple(role for role in Role if self.allows(None, role))

    @property
    def digest(self) -> bytes:
        """Changes with every change of a token; tells nothing about them."""
        return _digest("\n".join(f"{role}:{self._digests.get(role, b'').hex()}" for role in Role))

    def role_of(self, token: str) -> Role | None:
        """The role that a token stands for; `None` for a wrong one."""
        given, found = _digest(token), None
        for role, digest in self._digests.items():
            if hmac.compare_digest(digest, given):
                found = role
        return found

    def allows(self, held: Role | None, needed: Role) -> bool:
        """Whether the bearer of a role's token (`None`: of none) may do what `needed` may."""
        if needed is Role.INVESTIGATOR and needed not in self._digests:
            needed = Role.VIEWER
        if needed not in self._digests:
            return True
        return held is needed or (needed is Role.VIEWER and held is Role.INVESTIGATOR)

    def shows_texts(self, held: Role | None) -> bool:
        """Whether the bearer of a role's token is shown documents and summaries."""
        return self.allows(held, self._texts)


def needed_role(method: str, path: str) -> Role | None:
    """The role that a route asks for; `None` where it is open in any case.

    What is not named here needs a viewer to be read and an investigator to be changed: a route
    that somebody adds is closed until it is opened.
    """
    if path in _ALWAYS_OPEN or path.startswith(STATIC):
        return None
    if path.startswith("/v1/"):
        return Role.INGEST
    if path == "/metrics":
        return Role.METRICS
    return Role.VIEWER if method in CHANGES_NOTHING else Role.INVESTIGATOR


def reading_headers(access: Access) -> dict[str, str]:
    """Headers with which a command of the same configuration reads the API."""
    for role, value, file in (
        (Role.VIEWER, access.viewer_token, access.viewer_token_file),
        (Role.INVESTIGATOR, access.investigator_token, access.investigator_token_file),
    ):
        token = secret_of(f"access.{role}_token", value, file)
        if token is not None:
            return {"Authorization": f"Bearer {token}"}
    return {}


def policy_of(access: Access) -> AccessPolicy:
    """The policy that the configuration asks for, its token files read.

    Raises `ConfigurationError` that names the key.
    """
    given = {
        Role.INGEST: (access.ingest_token, access.ingest_token_file),
        Role.METRICS: (access.metrics_token, access.metrics_token_file),
        Role.VIEWER: (access.viewer_token, access.viewer_token_file),
        Role.INVESTIGATOR: (access.investigator_token, access.investigator_token_file),
    }
    tokens = {}
    for role, (value, file) in given.items():
        token = secret_of(f"access.{role}_token", value, file)
        if token is not None:
            tokens[role] = token
    return AccessPolicy(tokens, texts=Role(access.texts))


def secret_of(key: str, value: SecretStr | None, file: Path | None) -> str | None:
    """A secret from its key or from the file that `<key>_file` names; `None` without both.

    Raises `ConfigurationError`.
    """
    if value is not None and file is not None:
        raise ConfigurationError(f"{key}: {key}_file is set, too; keep one of them")
    if value is not None:
        return value.get_secret_value()
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(
            f"{key}_file: {str(file)!r} cannot be read ({problem}); name a file that holds "
            "nothing but the secret and that this user may read"
        ) from None


def _require_usable(role: Role, token: str) -> None:
    if _PRINTABLE.fullmatch(token) is None:
        raise ConfigurationError(
            f"access.{role}_token: it is empty or holds a blank or a character that no header "
            "carries, or its file does; use what `openssl rand -hex 32` prints"
        )


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
