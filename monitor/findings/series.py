"""What is judged together, and its records in the order in which they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from monitor.records import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Series:
    """What is judged together: one service, model and category."""

    service: str
    model: str
    category: str
    """As it was decided when the records were scored; empty where none was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """The last record that was taken in, in the order (received_at, id)."""

    received_at: datetime
    record_id: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SignalSample:
    """Records of one series with a value of one signal, in the order (received_at, id)."""

    ids: tuple[str, ...]
    times: FloatArray
    """(n,) received, seconds since the epoch, ascending."""
    values: FloatArray
    """(n,)"""
    probabilities: FloatArray
    """(n,) π; for attributions times the probability of being explained."""
    traces: tuple[str, ...]
    """Trace id, or the record's own id where it has none."""
    shares: FloatArray
    """(n,) mean achieved share of replaced words; NaN where no perturbation has a distance."""
    releases: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, places: Sequence[int]) -> SignalSample:
        """The records at these places, which ascend."""
        chosen = np.asarray(places, dtype=np.intp)
        return SignalSample(
            ids=tuple(self.ids[place] for place in places),
            times=self.times[chosen],
            values=self.values[chosen],
            probabilities=self.probabilities[chosen],
            traces=tuple(self.traces[place] for place in places),
            shares=self.shares[chosen],
            releases=tuple(self.releases[place] for place in places),
        )

    def with_share(self) -> SignalSample:
        """Without the records whose share is unknown: nothing can be adjusted for it there."""
        known = np.flatnonzero(np.isfinite(self.shares))
        return self if len(known) == len(self) else self.at(known.tolist())
