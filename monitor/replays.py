"""How a replay of our own is told from traffic, on whatever way it comes back.

A re-summary that goes to a monitored service is reported like any other call. Were it taken for
traffic, it could be sampled and replayed itself, and so on without an end. So a replay carries a
trace state, which OpenTelemetry hands on, an id that KServe's logger keeps, and a trace id whose
second half follows from its first: that one survives wherever a trace id does, in logs, in events
without their span, and behind a collector that drops the trace state.
"""

from __future__ import annotations

import hashlib
import secrets

TRACESTATE = "hss=replay"
"""Our member of the W3C trace state."""
REQUEST_ID = "hss-replay-"
"""Prefix of the ids of our requests."""
_PERSON = b"hss-replay"
_HALF = 8


def replay_trace_id() -> str:
    """A fresh trace id for a replay: 32 hex digits.

    >>> is_replay_trace(replay_trace_id())
    True
    """
    first = secrets.token_bytes(_HALF)
    return (first + _second(first)).hex()


def is_replay_trace(trace_id: str) -> bool:
    """Whether a trace id is one of our replays; wrong once in 2⁶⁴ ids of others.

    >>> is_replay_trace("0123456789abcdef0123456789abcdef"), is_replay_trace("")
    (False, False)
    """
    first = bytes.fromhex(trace_id[: 2 * _HALF])
    return trace_id[2 * _HALF :] == _second(first).hex()


def _second(first: bytes) -> bytes:
    return hashlib.blake2b(first, digest_size=_HALF, person=_PERSON).digest()
