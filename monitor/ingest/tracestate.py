"""What a W3C `tracestate` tells: our own replays, and the sender's sampling probability.

Both follow from list members `key=value`: `hss=replay` is ours; `ot=` is OpenTelemetry's,
with `th:` (rejection threshold: up to 14 hex digits, padded with zeros on the right, of a
56-bit number T; the span was kept with probability 1 - T/2⁵⁶) or, from older samplers,
`p:` (kept with probability 2⁻ᵖ).
"""

from __future__ import annotations

import re

_THRESHOLD = re.compile(r"[0-9a-f]{1,14}")
_RANGE = 1 << 56
_MOST_P = 62


def is_replay(state: str) -> bool:
    """Whether the trace is a re-summary that we asked for ourselves.

    >>> is_replay("vendor=1, hss=replay"), is_replay("hss=other")
    (True, False)
    """
    return _member(state, "hss") == "replay"


def upstream_probability(state: str) -> float:
    """The probability with which the sender kept this trace; 1 where it tells none.

    >>> upstream_probability("ot=th:c"), upstream_probability("ot=p:3;r:5")
    (0.25, 0.125)
    """
    for entry in (_member(state, "ot") or "").split(";"):
        name, _, told = entry.partition(":")
        if name == "th" and _THRESHOLD.fullmatch(told):
            return (_RANGE - int(told.ljust(14, "0"), 16)) / _RANGE
        if name == "p" and told.isascii() and told.isdigit() and int(told[:4]) <= _MOST_P:
            return 2.0 ** -int(told)
    return 1.0


def _member(state: str, key: str) -> str | None:
    for member in state.split(","):
        name, _, told = member.strip().partition("=")
        if name == key:
            return told
    return None
