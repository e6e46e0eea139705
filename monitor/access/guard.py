"""Putting the access rules of a configuration in front of an application."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

import structlog
from fastapi import FastAPI

from monitor.access.middleware import AccessMiddleware
from monitor.access.policy import AccessPolicy, Role, policy_of
from monitor.access.session import Sessions, session_key
from monitor.access.sign_in import sign_in_router
from monitor.access.wrong_tokens import WrongTokens
from monitor.ports import Clock
from monitor.settings import Settings

log = structlog.get_logger(__name__)


def guard(
    app: FastAPI,
    settings: Settings,
    *,
    hash_key: bytes,
    clock: Clock,
    refused: Callable[[int], None],
) -> AccessPolicy:
    """Let nothing through to the application but what `settings.access` allows.

    `hash_key` is the installation's, `refused` is told the status of each refused ingest
    request. Warns where the port can be reached from elsewhere and roles are open. Raises
    `ConfigurationError` for tokens that cannot work.
    """
    policy = policy_of(settings.access)
    local = is_local(settings.http.host)
    if not local and policy.open_roles:
        log.warning(
            "access_open",
            host=settings.http.host,
            roles=[role.value for role in policy.open_roles],
            remedy="set access.<role>_token_file for each, or http.host to 127.0.0.1",
        )
    sessions = Sessions(session_key(hash_key, policy.digest), hours=settings.access.session_hours)
    public_url = settings.outlets.public_url
    wrong_tokens = WrongTokens(clock=clock)
    app.include_router(
        sign_in_router(
            policy, sessions, wrong_tokens=wrong_tokens, clock=clock, public_url=public_url
        )
    )
    app.add_middleware(
        AccessMiddleware,
        policy=policy,
        sessions=sessions,
        wrong_tokens=wrong_tokens,
        clock=clock,
        public_url=public_url,
        local_only=local and Role.VIEWER in policy.open_roles,
        refused=refused,
    )
    return policy


def is_local(host: str) -> bool:
    """Whether what listens on this address is reached from its own machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
