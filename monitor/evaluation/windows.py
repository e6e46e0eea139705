"""The current window of every watched signal, compared with its reference within limited time.

Thousands of permutations of thousands of records cost tenths of a second for each signal, so
what did not change is not compared again: a window is read anew when enough of it is new, when
records must have left it, or when an alarm began or ended. Where the time of a turn does not
suffice, the windows that waited longest go first in the next.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from monitor.drift.comparison import (
    STATISTICS,
    Comparison,
    Sample,
    compare,
    correct,
    sharper,
    too_coarse,
)
from monitor.drift.correction import permutations_needed
from monitor.drift.permutation import BlockTest
from monitor.drift.reference import Insufficient, Lacking, Reference
from monitor.drift.verdict import SUSPECT_P
from monitor.evaluation.comparable import comparable
from monitor.evaluation.following import TICK
from monitor.evaluation.limits import MOST_GONE
from monitor.evaluation.ports import Samples
from monitor.evaluation.references import Held
from monitor.findings import Series

MOST_RECORDS = 5_000
"""Newest records of a window, and of a reference, that are compared."""
NEW_SHARE = 0.05
"""A window with so large a share of new records is compared again …"""
OLD_SHARE = 0.05
"""… and one that was read before so large a share of its length."""

Key = tuple[Series, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One watched signal of one series, as it stands in this turn."""

    key: Key
    held: Held
    reference: Reference
    fresh: int
    """Records that its detector took in since the last turn."""
    alarmed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """What was read of one pair, and what came of it."""

    reference_id: str
    sample: Sample
    read_at: datetime
    alarmed: bool
    fresh: int
    """Records that came since it was read."""
    comparison: Comparison | None
    """Not corrected; `None` for an empty sample."""


class Windows:
    """Keeps the windows of all pairs between turns."""

    def __init__(
        self,
        samples: Samples,
        *,
        seconds: float,
        permutations: int,
        budget: float,
        monotonic: Callable[[], float],
    ) -> None:
        """`budget`: seconds of a turn that comparing may take."""
        self._samples = samples
        self._length = timedelta(seconds=seconds)
        self._permutations = permutations
        self._budget = budget
        self._monotonic = monotonic
        self._windows: dict[Key, Window] = {}

    def refresh(self, pairs: Sequence[Pair], *, now: datetime) -> dict[Key, Window]:
        """Windows of these pairs with corrected p-values; a pair that had to wait may be left
        out."""
        self._keep(pairs)
        deadline = self._monotonic() + self._budget
        due = [pair for pair in pairs if self._due(pair, now)]
        for pair in sorted(due, key=self._waited):
            if self._monotonic() >= deadline:
                break
            self._windows[pair.key] = self._read(pair, now)
        self._sharpen(pairs, now, deadline)
        return self._corrected()

    def _keep(self, pairs: Sequence[Pair]) -> None:
        kept = {}
        for pair in pairs:
            window = self._windows.get(pair.key)
            if window is not None and window.reference_id == pair.reference.id:
                kept[pair.key] = replace(window, fresh=window.fresh + pair.fresh)
        self._windows = kept

    def _due(self, pair: Pair, now: datetime) -> bool:
        window = self._windows.get(pair.key)
        if window is None or window.alarmed != pair.alarmed:
            return True
        enough = max(1.0, NEW_SHARE * len(window.sample.values))
        return window.fresh >= enough or now - window.read_at >= OLD_SHARE * self._length

    def _waited(self, pair: Pair) -> float:
        window = self._windows.get(pair.key)
        first = window is None or window.alarmed != pair.alarmed
        return 0.0 if first or window is None else window.read_at.timestamp()

    def _read(self, pair: Pair, now: datetime) -> Window:
        series, signal = pair.key
        since = now - self._length
        last = pair.held.stored.until
        if last is not None:
            since = max(since, last + TICK)
        found = self._samples.sample(
            series, signal, since=since, until=now, calibration=pair.held.calibration
        )
        sample = comparable(found, signal, newest=MOST_RECORDS)
        before = self._windows.get(pair.key)
        if before is not None and np.array_equal(before.sample.times, sample.times):
            comparison = before.comparison
        else:
            comparison = self._compared(pair, sample, self._permutations)
        return Window(
            reference_id=pair.reference.id,
            sample=sample,
            read_at=now,
            alarmed=pair.alarmed,
            fresh=0,
            comparison=comparison,
        )

    def _compared(self, pair: Pair, sample: Sample, permutations: int) -> Comparison | None:
        series, signal = pair.key
        last = pair.held.stored.until
        if len(sample.values) == 0 or last is None:
            return None
        found = self._samples.reference(series, signal, pair.held.calibration, until=last)
        before = comparable(found, signal, newest=MOST_RECORDS)
        expected = min(pair.held.stored.records, MOST_RECORDS)
        if len(before.values) == 0 or len(before.values) < (1 - MOST_GONE) * expected:
            return _pruned(len(before.values), expected)
        # The same records give the same p-value, in whichever process.
        seed = zlib.crc32(repr((series, signal, pair.reference.id)).encode())
        return compare(pair.reference, before, sample, seed=seed, permutations=permutations)

    def _sharpen(self, pairs: Sequence[Pair], now: datetime, deadline: float) -> None:
        """With many tests their correction asks for smaller p-values than few permutations can
        give; only those that came out smallest are worth the time."""
        tests = sum(
            isinstance(test, BlockTest)
            for window in self._windows.values()
            if window.comparison is not None
            for test in window.comparison.tests.values()
        )
        needed = permutations_needed(tests, level=SUSPECT_P)
        if needed <= self._permutations:
            return
        corrected = self._corrected()
        for pair in pairs:
            if self._monotonic() >= deadline:
                return
            window = corrected.get(pair.key)
            if window is None or window.comparison is None:
                continue
            found = any(p < SUSPECT_P for p in window.comparison.adjusted.values())
            if found or not too_coarse(window.comparison) or _permutations(window) >= needed:
                continue
            again = self._compared(pair, window.sample, needed)
            if again is not None:
                self._windows[pair.key] = replace(
                    window, comparison=sharper(window.comparison, again)
                )

    def _corrected(self) -> dict[Key, Window]:
        compared = {
            key: window.comparison
            for key, window in self._windows.items()
            if window.comparison is not None
        }
        corrected = correct(compared)
        return {
            key: replace(window, comparison=corrected.get(key))
            for key, window in self._windows.items()
        }


def _pruned(left: int, expected: int) -> Comparison:
    """Against the rest of a reference nothing is tested; its detector needs no records."""
    detail = (
        f"{left} of {expected} records of the reference are left, the others were pruned; run "
        "`hss-monitor calibrate`, or set storage.keep_records_days higher"
    )
    lacking = Insufficient(reason=Lacking.NO_REFERENCE, detail=detail)
    return Comparison(tests=dict.fromkeys(STATISTICS, lacking), adjusted={})


def _permutations(window: Window) -> int:
    tests = window.comparison.tests.values() if window.comparison is not None else ()
    return max((test.permutations for test in tests if isinstance(test, BlockTest)), default=0)
