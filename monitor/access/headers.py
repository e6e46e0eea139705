"""Headers that keep a browser from doing more with a page than showing it."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders

_HEADERS = {
    # No script at all, nothing from elsewhere, no form to elsewhere, in no frame.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: browsers would then send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def harden(headers: MutableHeaders, *, private: bool) -> None:
    """Set them on an answer; a private one, which may hold texts, is stored nowhere."""
    for name, value in _HEADERS.items():
        headers[name] = value
    if private:
        headers["Cache-Control"] = "no-store"
