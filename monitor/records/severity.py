"""What distances are measured by, and the severity that comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.records.outcome import Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Normalizer:
    """M_c: the 95th percentile of the reference distances of a category."""

    category: str | None
    """`None` is the pooled normalizer."""
    value: float
    low: float | None
    """95 % interval, by bootstrap over documents."""
    high: float | None
    documents: int
    distances: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """A frozen, dated set of normalizers; never changed after it was made."""

    id: str
    fingerprint: str
    """Scores under another fingerprint are `uncalibrated`."""
    settings: Mapping[str, Any]
    """What the fingerprint was made of, for people."""
    created_at: datetime
    window: str
    """Name of the reference window."""
    since: datetime | None
    until: datetime | None
    provisional: bool
    """Shipped with the package for the embedded models; to be replaced by an own one."""
    normalizers: tuple[Normalizer, ...]
    warnings: tuple[str, ...] = ()
    """For people: why this reference should be looked at before it is trusted."""
    release: str | None = None
    """The only release that the window holds; None: whatever came in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Severity:
    """HSS(x) with its 95 % interval, or the reason why it is unknown."""

    hss: float | None
    low: float | None
    high: float | None
    reason: Reason | None
    interval_reason: Reason | None
    normalizer: Normalizer | None
    """What it was divided by; its category is `None` where the pooled one stood in."""
