"""What the sidecar's evaluator found out during the demo, for the audience and the result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.findings import BreachDetail, BreachRow, DriftFinding
from monitor.stores import Stores


@dataclass(slots=True)
class Watching:
    """Findings so far: an alarm that ended stays known, with when it began."""

    drifted: dict[str, DriftFinding]
    """By signal: the finding with the greatest effect while its alarm was held."""
    drifted_now: tuple[str, ...]
    breaches: tuple[BreachRow, ...]
    """All that have opened, the first one first."""
    breach: BreachDetail | None
    """The first one with the severity `page`."""
    open_breaches: tuple[str, ...]
    """Thresholds."""
    evaluated_at: datetime | None

    @property
    def found(self) -> bool:
        """Drift and a page, both."""
        return bool(self.drifted) and self.breach is not None

    @property
    def calm(self) -> bool:
        """Nothing is wrong any more."""
        return not self.drifted_now and not self.open_breaches

    def look(self, stores: Stores) -> None:
        """Read what the evaluator last stored."""
        lease = stores.lease.current()
        self.evaluated_at = None if lease is None else lease.evaluated_at
        now = stores.drift.findings(state="drifted")
        self.drifted_now = tuple(finding.signal for finding in now)
        for finding in now:
            before = self.drifted.get(finding.signal)
            if before is None or abs(finding.effect or 0.0) >= abs(before.effect or 0.0):
                self.drifted[finding.signal] = finding
        rows = stores.breaches.list_breaches().rows
        self.breaches = tuple(sorted(rows, key=lambda row: row.opened_at))
        self.open_breaches = tuple(row.threshold for row in rows if row.state == "open")
        pages = [row for row in rows if row.severity == "page"]
        if pages:
            first = min(pages, key=lambda row: row.opened_at)
            self.breach = stores.breaches.breach(first.id)

    def since(self) -> datetime | None:
        """The earliest estimated change."""
        times = [each.since for each in self.drifted.values() if each.since is not None]
        return min(times, default=None)


def nothing_yet() -> Watching:
    """Before the first look."""
    return Watching(
        drifted={},
        drifted_now=(),
        breaches=(),
        breach=None,
        open_breaches=(),
        evaluated_at=None,
    )
