"""Records that cannot be scored: why, and whether that lies with them or with us."""

from __future__ import annotations

from monitor.records import Reason

FAILURES = frozenset(
    {
        Reason.SUMMARIZER_TIMEOUT,
        Reason.SUMMARIZER_ERROR,
        Reason.SUMMARIZER_THROTTLED,
        Reason.OVER_BUDGET,
        Reason.INTERNAL_ERROR,
    }
)
"""Reasons that lie with us or the summarizer: the record is `failed`, not `skipped`, and may
be tried again. All others lie in the record itself."""


class Unscorable(Exception):
    """Ends the scoring of one record; the pipeline turns it into that record's result."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        """For people; never a text of the record."""
