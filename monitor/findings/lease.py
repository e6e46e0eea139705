"""Which front judges."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorLease:
    """Who evaluates at present."""

    holder: str
    """Name of a front."""
    token: int
    """Grows with every change of holder: a late write of a former holder is refused by it."""
    until: datetime
    evaluated_at: datetime | None
    """End of the last complete evaluation."""
