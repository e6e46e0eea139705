"""Which database a URL of the configuration means."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from monitor.errors import ConfigurationError, choices

_SCHEMES = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}


def parse(url: str) -> URL:
    """The URL with its driver; raises `ConfigurationError` for what cannot be one of ours."""
    scheme = url.split(":", 1)[0]
    if scheme not in _SCHEMES:
        raise ConfigurationError(
            f"database.url: {scheme!r} is not supported; use {choices(['sqlite', 'postgresql'])}, "
            "as in sqlite:///hss-monitor.db or postgresql://user@host/name"
        )
    try:
        parsed = sa.make_url(url).set(drivername=_SCHEMES[scheme])
    except (ArgumentError, ValueError):
        # The original message may quote the password.
        raise ConfigurationError(
            "database.url: cannot be read as a URL; "
            "write sqlite:///hss-monitor.db or postgresql://user@host/name"
        ) from None
    if scheme.startswith("sqlite"):
        if parsed.database in (None, "", ":memory:"):
            raise ConfigurationError(
                "database.url: a database in memory cannot be shared by the processes of the "
                "sidecar; name a file, as in sqlite:///hss-monitor.db"
            )
        folder = Path(str(parsed.database)).resolve().parent
        if not folder.is_dir():
            raise ConfigurationError(f"database.url: the folder {folder} is missing; create it")
    return parsed
