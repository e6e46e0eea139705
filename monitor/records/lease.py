"""A scorer's claim on one record of the queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.records.incoming import IncomingRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A scorer's claim on one record until a time."""

    record_id: str
    token: str
    """Unique to this claim: a result is taken only with the current token."""
    worker: str
    until: datetime
    attempt: int
    """1 for the first claim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeasedRecord:
    """A record with the claim under which it is scored."""

    lease: Lease
    record: IncomingRecord
