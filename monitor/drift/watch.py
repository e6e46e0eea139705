"""The stored state of one watched signal: evidence, alarm, and the way back.

An alarm is raised when the evidence of a direction reaches the threshold. It ends when the
last 50 records lie inside the reference band: their weighted mean of level and of spread is
below the upper and above the lower limits of their hours. (Single records cannot be asked to
lie there: the band is one of the mean.) Then all evidence starts anew from nothing, and so
it does when the reference is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from monitor.drift.edetector import DIRECTIONS, Evidence, advance, no_evidence
from monitor.drift.reference import Observations
from monitor.errors import MalformedInput

RECOVERY = 50
LEVEL_EVIDENCE = 20.0
"""Mean C_t(γ) from which a change is called one of level; chance exceeds it in at most 5 %."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarm:
    """A change that the e-detector found."""

    direction: str
    """One of `edetector.DIRECTIONS`."""
    since: float
    """Estimated time of the change, in seconds since the epoch."""
    raised_at: float
    """Time of the record that completed the evidence."""
    evidence: float
    """E_t then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """State after all records so far; stored with the cursor, read back by `restore`."""

    reference_id: str
    evidence: Evidence
    alarm: Alarm | None = None
    """Held until recovery."""
    tail: tuple[tuple[float, ...], ...] = ()
    """During an alarm: stake × (value − limit) of the last records, one row a record."""

    def stored(self) -> dict[str, Any]:
        """Plain data for a JSON column; `restore` is its inverse."""
        return asdict(self)


def restore(stored: Mapping[str, Any]) -> Watch:
    """A watch from what `Watch.stored` gave, also after a round trip through JSON.

    Raises `MalformedInput` where the state is damaged, or of a version with other detectors.
    """
    try:
        return _restored(stored)
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedInput(
            "state",
            f"{sorted(stored)} cannot be read ({type(error).__name__}: {error})",
            "drop the stored state; the detector then starts anew",
        ) from None


def _restored(stored: Mapping[str, Any]) -> Watch:
    evidence, alarm = stored["evidence"], stored["alarm"]
    if len(evidence["sums"]) != len(DIRECTIONS):
        raise MalformedInput(
            "evidence",
            f"{len(evidence['sums'])} directions, this version has {len(DIRECTIONS)}",
            "drop the stored state; the detector then starts anew",
        )
    return Watch(
        reference_id=stored["reference_id"],
        evidence=Evidence(
            sums=_rows(evidence["sums"]),
            peaks=_rows(evidence["peaks"]),
            onsets=_rows(evidence["onsets"]),
            records=evidence["records"],
        ),
        alarm=None if alarm is None else Alarm(**alarm),
        tail=_rows(stored["tail"]),
    )


def start(reference_id: str) -> Watch:
    """The state before the first record after a calibration."""
    return Watch(reference_id=reference_id, evidence=no_evidence())


def follow(
    watch: Watch,
    observations: Observations,
    *,
    reference_id: str,
    threshold: float,
    recovery: int = RECOVERY,
) -> Watch:
    """Take in further records in their order (received_at, id), each exactly once.

    `threshold` is c of `edetector.alarm_threshold`. A state of another reference is dropped.
    The result does not depend on how the records are cut into batches.
    """
    if watch.reference_id != reference_id:
        watch = start(reference_id)
    place, count = 0, len(observations.times)
    while place < count:
        rest = _from(observations, place)
        if watch.alarm is None:
            evidence = advance(watch.evidence, rest, threshold=threshold)
            place += evidence.records - watch.evidence.records
            alarm = _alarm(evidence, float(observations.times[place - 1]), threshold)
            watch = replace(watch, evidence=evidence, alarm=alarm)
        else:
            excess = rest.stakes[:, 0] * (rest.values[:, 0] - rest.limits[:, 0])
            tail = (*watch.tail, tuple(excess.tolist()))[-recovery:]
            place += 1
            inside = len(tail) == recovery and bool((np.sum(tail, axis=0) <= 0).all())
            watch = start(reference_id) if inside else replace(watch, tail=tail)
    return watch


def _alarm(evidence: Evidence, now: float, threshold: float) -> Alarm | None:
    value = max(evidence.value)
    if value < threshold:
        return None
    direction = _direction(evidence)
    since = evidence.onset(direction)
    return Alarm(
        direction=DIRECTIONS[direction],
        since=now if since is None else since,
        raised_at=now,
        evidence=value,
    )


def _direction(evidence: Evidence) -> int:
    """What to call the change: the level, where it has evidence of its own.

    A great shift raises squared deviations even faster than the level that causes them; a
    change of spread never moves the level.
    """
    level = [fmean(evidence.peaks[direction]) for direction in (0, 1)]
    if max(level) >= LEVEL_EVIDENCE:
        return level.index(max(level))
    return evidence.value.index(max(evidence.value))


def _from(observations: Observations, place: int) -> Observations:
    return Observations(
        times=observations.times[place:],
        values=observations.values[:, place:],
        limits=observations.limits[:, place:],
        stakes=observations.stakes[:, place:],
    )


def _rows(rows: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)
