"""One attempt of a call: what came of it, whether another is worth it, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from monitor.records import Reason, Summary
from monitor.summarization.answers import Answer, failed

_WAITABLE = frozenset({408, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """An answer, or why there is none."""

    answer: Answer
    seconds: float = 0.0
    retryable: bool = False
    retry_after: float = 0.0
    """Seconds that the endpoint asked us to wait."""
    charged: bool = True
    """Tokens were or may have been used."""

    def used(self, expected_tokens: int) -> int:
        """Tokens to settle the reservation with: as told, else as expected."""
        if not self.charged:
            return 0
        told = (self.answer.prompt_tokens, self.answer.completion_tokens)
        return expected_tokens if None in told else sum(count or 0 for count in told)

    def summary(self, *, attempts: int) -> Summary:
        """What the caller of a summarizer gets after so many attempts."""
        answer, detail = self.answer, self.answer.detail
        if answer.text is None and attempts > 1:
            detail += f" (attempt {attempts})"
        return Summary(
            text=answer.text,
            reason=answer.reason,
            detail=detail,
            seconds=self.seconds,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            attempts=attempts,
        )


def refused(status: int, *, retry_after: float | None, seconds: float) -> Attempt:
    """An answer with another status than 200: it used no tokens."""
    waitable = status in _WAITABLE or status >= 500
    detail = f"status {status}"
    if retry_after is not None and waitable:
        detail += f", asks to wait {retry_after:g} s"
    if status in {401, 403}:
        detail += "; check the key"
    if 300 <= status < 400:
        detail += "; redirects are not followed, configure the final URL"
    throttled = status == httpx.codes.TOO_MANY_REQUESTS
    return Attempt(
        answer=failed(
            detail, Reason.SUMMARIZER_THROTTLED if throttled else Reason.SUMMARIZER_ERROR
        ),
        seconds=seconds,
        retryable=waitable,
        retry_after=retry_after or 0.0,
        charged=False,
    )
