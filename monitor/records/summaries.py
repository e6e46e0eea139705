"""What a summarizer is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.records.incoming import CapturedRequest
from monitor.records.outcome import Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryTask:
    """One document to summarize."""

    document: str
    original_document: str
    """The document as captured: a replay replaces it by `document`."""
    request: CapturedRequest | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """One answer of a summarizer, or the reason why there is none."""

    text: str | None
    reason: Reason | None = None
    detail: str = ""
    """For people: what the summarizer said. Never a text."""
    seconds: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    truncated: bool = False
    """The document was longer than the model takes and was cut (`truncate` policy)."""
