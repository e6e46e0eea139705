"""Addresses of pages, for people who read of a breach or a score elsewhere."""

from __future__ import annotations

from urllib.parse import quote


def record_url(public_url: str, record_id: str) -> str:
    """The page of a record; ids come from senders and may hold anything.

    >>> record_url("https://hss.example/", "a/b")
    'https://hss.example/records/a%2Fb'
    """
    return _page(public_url, "records", record_id)


def breach_url(public_url: str, breach_id: str) -> str:
    """The page of a breach."""
    return _page(public_url, "breaches", breach_id)


def _page(public_url: str, kind: str, id_: str) -> str:
    return f"{public_url.rstrip('/')}/{kind}/{quote(id_, safe='')}"
