"""Where calls go and with which key, checked before the first one."""

from __future__ import annotations

import httpx

from monitor.errors import ConfigurationError


def checked_url(url: str) -> str:
    """The URL itself, where it can be called; raises `ConfigurationError`.

    User and password in the URL are refused: URLs end up in logs.
    """
    try:
        parsed = httpx.URL(url)
        parsed.host.encode("idna")  # as the look-up of its address will
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ConfigurationError("url: cannot be read; give a full http(s) URL") from error
    if parsed.userinfo:
        raise ConfigurationError("url: holds a user or password; give the key as api_key instead")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigurationError(f"url: {url!r} is no http(s) URL; give a full one")
    return url


def checked_key(key: str) -> str:
    """The key itself, where it can stand in a header; the message never shows it."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            "api_key: is empty or holds a space, a line break or a character outside ASCII; "
            "check how it was read"
        )
    return key
