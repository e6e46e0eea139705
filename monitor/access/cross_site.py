"""Requests that another site makes a browser send change nothing.

Three checks, each enough against the browsers that support it: `Sec-Fetch-Site` (sent over
https and to this machine), `Origin` (sent with every POST), and a token in each form that is
bound to the session. What is no form must be JSON, which no page can send elsewhere without
being allowed to; nobody is. A request that shows a bearer token is no browser's doing.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers

from monitor.errors import MalformedInput

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
_FIELDS = 100
_OWN = frozenset({"same-origin", "none"})
"""`none`: the person asked for it, by the address bar or by loading again."""


def is_from_elsewhere(headers: Headers, *, public_url: str | None) -> bool:
    """Whether the browser says that another site, or another port, sent this."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in _OWN
    origin = headers.get("origin")
    if origin is None:
        return False
    return _host(origin) not in _own_hosts(headers, public_url)


def is_followed_link(headers: Headers, *, public_url: str | None) -> bool:
    """Whether a person came here by a link on another site, such as an alert's."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in _OWN
    referer = headers.get("referer")
    return referer is not None and _host(referer) not in _own_hosts(headers, public_url)


def content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def form_fields(body: bytes) -> dict[str, str]:
    """The fields of a posted form, blank ones included; of a repeated one the last.

    Raises `MalformedInput`.
    """
    try:
        found = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=_FIELDS)
    except (UnicodeDecodeError, ValueError):
        raise MalformedInput(
            "form", "it is not URL-encoded, or has too many fields", "send it from its page"
        ) from None
    return {name: values[-1] for name, values in found.items()}


def is_borrowed_name(host: str, *, public_url: str | None) -> bool:
    """Whether a `Host` is a domain name that is not ours.

    A page may let its own name point to 127.0.0.1 and then read what listens there, being of
    the same origin by name. Addresses and names without a dot cannot be borrowed so.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:  # brackets that hold no address
        return True
    if "." not in name.strip(".") or name == (urlsplit(public_url or "").hostname or ""):
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return True
    return False


def _own_hosts(headers: Headers, public_url: str | None) -> set[str]:
    return {headers.get("host", ""), _host(public_url or "")} - {""}


def _host(url: str) -> str:
    """Host and port as a `Host` header has them: without the port that the scheme implies."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that hold no address: nobody's
        return ""
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return parts.netloc.rpartition("@")[2].removesuffix(usual) if usual else parts.netloc
