"""The composition root of the evaluator: the process that judges drift and thresholds.

It brings SciPy, which the front does without. A front starts one and hands it its own name: the
lease is held in that name, and the front that is named in it exports what was found. It may die
at any moment: what a turn found is stored as a whole or not at all, and another front's evaluator
takes over when the lease has run out.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime

import structlog

from monitor.calibrating import Window, severities_of
from monitor.child import Stopping
from monitor.drift_references import sample_of
from monitor.errors import DatabaseUnavailable
from monitor.evaluation.drifting import DriftJudge
from monitor.evaluation.following import TICK
from monitor.evaluation.limits import Limits
from monitor.evaluation.references import References
from monitor.evaluation.thresholds import ThresholdJudge
from monitor.evaluation.turn import Evaluator, Judges
from monitor.evaluation.windows import Windows
from monitor.findings import Cursor, Series, SignalSample
from monitor.logs import failure
from monitor.records import Calibration, Severity
from monitor.settings import Settings
from monitor.storage.breach_store import breach_id
from monitor.storage.samples import signal_sample
from monitor.storage.series import finished_until, list_series, minutes_unscored
from monitor.stores import Stores, now

log = structlog.get_logger(__name__)

COMPARING_SHARE = 0.5
"""Of `evaluation.seconds`: what comparing windows may take of a turn."""


class SqlSamples:
    """`evaluation.ports.Samples` on the stores."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._severities: dict[tuple[str, str], dict[str, Severity]] = {}
        """By calibration and the one whose window it is; of the last calibration only."""
        self._origins: dict[str, dict[Series, Calibration]] = {}
        """By calibration: whose window a series is held to, where that is another's."""

    def series(self, *, since: datetime, limit: int) -> list[tuple[Series, int]]:
        return list_series(self._stores.database, since=since, limit=limit)

    def finished_until(self, series: Series, *, now: datetime) -> datetime:
        return finished_until(self._stores.database, series, now=now)

    def minutes_unscored(self, series: Series, *, now: datetime) -> float | None:
        return minutes_unscored(self._stores.database, series, now=now)

    def sample(
        self,
        series: Series,
        signal: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
        calibration: Calibration | None = None,
    ) -> SignalSample:
        return signal_sample(
            self._stores.database,
            series,
            signal,
            since=since,
            until=until,
            after=after,
            limit=limit,
            fingerprint=None if calibration is None else calibration.fingerprint,
            calibration=None if calibration is None or signal != "hss" else calibration.id,
        )

    def reference(
        self, series: Series, signal: str, calibration: Calibration, *, until: datetime
    ) -> SignalSample:
        """Raw distances stay what they were; HSS may have been normalized anew since."""
        origin = self._origin(series, calibration)
        ends = until + TICK
        if origin.until is not None:
            ends = min(ends, origin.until)
        window = Window(name=origin.window, since=origin.since, until=ends, release=origin.release)
        severities: dict[str, Severity] = {}
        if signal == "hss":
            severities = self._normalized(calibration, origin)
        return sample_of(self._stores, series, signal, calibration, window, severities)

    def _origin(self, series: Series, calibration: Calibration) -> Calibration:
        """The calibration whose window the reference of a series is of."""
        if calibration.id not in self._origins:
            stored = self._stores.drift.references(calibration.id)
            ids = {each.series: each.origin for each in stored if each.origin is not None}
            found = {each: self._stores.calibrations.get(each) for each in {*ids.values()}}
            self._origins[calibration.id] = {
                each: origin for each, id in ids.items() if (origin := found[id]) is not None
            }
        return self._origins[calibration.id].get(series, calibration)

    def _normalized(self, calibration: Calibration, origin: Calibration) -> dict[str, Severity]:
        key = (calibration.id, origin.id)
        if key not in self._severities:
            whole = Window(
                name=origin.window,
                since=origin.since,
                until=origin.until or origin.created_at,
                release=origin.release,
            )
            kept = {key: each for key, each in self._severities.items() if key[0] == calibration.id}
            self._severities = {**kept, key: severities_of(self._stores, calibration, whole)}
        return self._severities[key]


def evaluator_of(settings: Settings, stores: Stores, *, front: str) -> Evaluator:
    """The evaluator of a front, wired."""
    samples = SqlSamples(stores)
    references = References(stores.calibrations, stores.drift)
    judges = Judges(
        references=references,
        drift=DriftJudge(
            samples=samples,
            store=stores.drift,
            references=references,
            windows=Windows(
                samples,
                seconds=settings.drift.window_seconds,
                permutations=settings.drift.permutations,
                budget=COMPARING_SHARE * settings.evaluation.seconds,
                monotonic=time.monotonic,
            ),
            settings=settings.drift,
        ),
        thresholds=ThresholdJudge(
            samples=samples,
            store=stores.breaches,
            limits=Limits(samples, references, stores.facts),
            configured=settings.thresholds,
            breach_id=breach_id,
        ),
    )
    return Evaluator(
        judges,
        samples=samples,
        drift=stores.drift,
        breaches=stores.breaches,
        lease=stores.lease,
        holder=front,
        settings=settings,
        clock=now,
    )


def serve(settings: Settings, stores: Stores, *, front: str, child: bool) -> None:
    """Judge every `evaluation.seconds` until told to stop; the turn at hand is finished."""
    stopping = Stopping()
    stopping.listen(child=child)
    evaluator = evaluator_of(settings, stores, front=front)
    log.info("evaluator_ready", front=front)
    while not stopping.asked:
        started = time.monotonic()
        try:
            evaluator.turn()
        except Exception as error:  # the next turn may reach the database again
            log.error("evaluation_failed", **failure(error))
        stopping.wait(max(0.0, settings.evaluation.seconds - (time.monotonic() - started)))
    with suppress(DatabaseUnavailable):  # then the lease runs out by itself
        evaluator.release()
