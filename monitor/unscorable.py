"""Records that cannot be scored: why, and whether that lies with them or with us."""

from __future__ import annotations

import re

from monitor.records import Reason

_BLANK = re.compile(r"[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]*")

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


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: characters without width are no words.

    >>> is_blank(" \\u200b\\ufeff"), is_blank("a")
    (True, False)
    """
    return _BLANK.fullmatch(text) is not None
