"""What came in: one summarization of live traffic, with the request that led to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a chat request, its text parts joined."""

    role: str
    """`system`, `developer`, `user`, `assistant` or `tool`, as the client wrote it."""
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CapturedRequest:
    """The request that produced a summary: the template of every replay.

    A replay sends the same messages, model and parameters with the document replaced
    wherever it stands.
    """

    messages: tuple[Message, ...]
    model: str
    """The *requested* model; the one that answered stands in `IncomingRecord.model`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Generation parameters by their OpenAI names (`temperature`, `max_tokens`, …)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IncomingRecord:
    """One summarization seen in live traffic, however it came in."""

    id: str
    """The sender's id, else `{trace_id}-{span_id}`, else a fresh UUID; the idempotency key."""
    document: str
    """What was summarized, cut out of the prompt; may be empty."""
    summary: str
    """What the service answered (the first choice); may be empty."""
    service: str
    model: str
    """The model that answered, else the requested one."""
    received_at: datetime
    category: str | None = None
    """`None` until a rule or the nearest description decides."""
    release: str | None = None
    """`service.version` of the sender, where it tells one."""
    trace_id: str | None = None
    """32 lower-case hex digits."""
    span_id: str | None = None
    """16 lower-case hex digits."""
    started_at: datetime | None = None
    request: CapturedRequest | None = None
    alternatives: tuple[str, ...] = ()
    """The spare choices of an n > 1 answer: null control for free."""
    upstream_probability: float = 1.0
    """The probability with which the sender's own sampler kept this trace."""
