"""Taking new records into the e-detector of one signal, each exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from monitor.drift.reference import Reference
from monitor.drift.watch import Watch, follow, restore, start
from monitor.errors import MalformedInput
from monitor.evaluation.comparable import adjustable, shares_of
from monitor.evaluation.ports import Samples
from monitor.evaluation.references import Held
from monitor.findings import Cursor, Series, SignalSample, WatchState
from monitor.ports import SET_BACK

log = structlog.get_logger(__name__)

BATCH = 2_000
BATCHES = 10
"""At most so many a turn: after a long pause other series wait no longer than that."""
TICK = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A detector after the new records of this turn."""

    watch: Watch
    cursor: Cursor | None
    taken: int


def follow_signal(
    samples: Samples,
    series: Series,
    signal: str,
    held: Held,
    reference: Reference,
    state: WatchState | None,
    *,
    until: datetime,
    now: datetime,
    threshold: float,
    recovery: int,
) -> Followed:
    """Go on from `state` up to `until`, where the order of records is final.

    Records that cannot be adjusted for their share are passed over.
    Without a state, and with one of another calibration, the detector starts from nothing
    behind the last record of its reference.

    A clock that was set back makes records that come in behind those that were taken in already;
    then it goes on from `now`, and takes in a second time what once came in later than that:
    better than to see nothing until the clock has caught up.
    """
    watch, cursor = _resumed(state, reference.id)
    first = None if held.stored.until is None else held.stored.until + TICK
    begins = first if cursor is None else cursor.received_at
    if begins is not None and begins > now + SET_BACK:
        log.warning("clock_set_back", signal=signal, by=str(begins - now))
        cursor = Cursor(received_at=now, record_id="")
    taken = 0
    for _ in range(BATCHES):
        fresh = samples.sample(
            series,
            signal,
            since=first if cursor is None else None,
            until=until,
            after=cursor,
            limit=BATCH,
            calibration=held.calibration,
        )
        if len(fresh) == 0:
            break
        usable = adjustable(fresh, signal)
        if len(usable):
            watch = follow(
                watch,
                reference.observe(
                    usable.values,
                    usable.times,
                    probabilities=usable.probabilities,
                    least_probability=reference.least_probability,
                    shares=shares_of(usable, signal),
                ),
                reference_id=reference.id,
                threshold=threshold,
                recovery=recovery,
            )
        cursor, taken = _last(fresh), taken + len(usable)
        if len(fresh) < BATCH:
            break
    return Followed(watch=watch, cursor=cursor, taken=taken)


def stored_state(series: Series, signal: str, followed: Followed) -> WatchState:
    """What the next turn goes on with, here or in another process."""
    return WatchState(
        series=series,
        signal=signal,
        reference_id=followed.watch.reference_id,
        state=followed.watch.stored(),
        cursor=followed.cursor,
    )


def _resumed(state: WatchState | None, reference_id: str) -> tuple[Watch, Cursor | None]:
    if state is None or state.reference_id != reference_id:
        return start(reference_id), None
    stored: Mapping[str, object] = state.state
    try:
        return restore(stored), state.cursor
    except MalformedInput as error:
        log.warning("watch_restarted", signal=state.signal, problem=str(error))
        return start(reference_id), state.cursor


def _last(sample: SignalSample) -> Cursor:
    # A float holds the microseconds of this century exactly enough to be rounded back.
    moment = datetime.fromtimestamp(float(sample.times[-1]), UTC)
    return Cursor(received_at=moment, record_id=sample.ids[-1])
