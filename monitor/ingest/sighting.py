"""What one OTLP request tells of a call: its span, or its log events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from monitor.ingest.call import GenAiCall

Key = tuple[str, str]
"""(trace id, span id), lower-case hex."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """A span, or the log events of one span, as far as they tell of a GenAI call."""

    trace_id: str
    """32 lower-case hex digits; empty for a log event outside of any trace."""
    span_id: str
    """16 lower-case hex digits; empty like `trace_id`."""
    span: bool
    """Whether the span itself was seen: only it tells replays and sampling."""
    service: str
    """As it can be stored, like `release` and `scope`."""
    release: str | None
    scope: str
    """The instrumentation that wrote it."""
    call: GenAiCall
    by_message: bool = False
    """Whether it is one of several events, each with one message of the call."""
    started_at: datetime | None = None
    replay: bool = False
    traced: bool = True
    """Whether the ids are those of a trace; else they were made up to join the halves."""
    upstream_probability: float = 1.0

    @property
    def key(self) -> Key:
        return self.trace_id, self.span_id

    @property
    def ready(self) -> bool:
        """Whether nothing more has to be waited for."""
        if self.replay:
            return True
        return self.span and (self.call.complete or self.call.error is not None)

    def joined(self, other: Sighting) -> Sighting:
        """Both sights of one call as one; what the span says comes first."""
        if other.span and not self.span:
            return other.joined(self)
        if self.by_message and other.by_message:
            return replace(self, call=self.call.followed_by(other.call))
        return replace(self, call=self.call.joined(other.call))


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """What an OTLP request holds."""

    sightings: tuple[Sighting, ...]
    rejected: int = 0
    """Spans or log records that cannot be taken."""
    problem: str = ""
    """Why, and what to do; for the client's log."""
