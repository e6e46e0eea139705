"""The threshold half of a turn: every breach of every series taken one step further."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import structlog

from monitor.breaches.configured import AGE, threshold_of
from monitor.breaches.lifecycle import Breach, BreachState, end, restore, step
from monitor.breaches.stored import records_of
from monitor.breaches.thresholds import Evaluation, NoAnswer, Threshold, evaluate
from monitor.breaches.window import Records
from monitor.errors import MalformedInput
from monitor.evaluation.limits import Limits
from monitor.evaluation.ports import BreachStore, Samples
from monitor.findings import (
    BreachContributor,
    BreachDetail,
    BreachRow,
    Series,
    ThresholdState,
)
from monitor.settings import Threshold as Configured

log = structlog.get_logger(__name__)

NO_RECORD = ""
"""What stands for the record of a value that belongs to a series as a whole."""

Naming = Callable[[str, Series, int], str]
"""(threshold, series, number) → the stable id of a breach."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What a turn found out about thresholds, to be saved together."""

    states: tuple[ThresholdState, ...]
    breaches: tuple[BreachDetail, ...]


class ThresholdJudge:
    """Judges all configured thresholds on the series that it is given."""

    def __init__(
        self,
        *,
        samples: Samples,
        store: BreachStore,
        limits: Limits,
        configured: Sequence[Configured],
        breach_id: Naming,
    ) -> None:
        self._samples = samples
        self._store = store
        self._limits = limits
        self._configured = [(each, threshold_of(each)) for each in configured]
        self._breach_id = breach_id

    def judge(self, series: Sequence[Series], *, now: datetime) -> Judged:
        """One step for every threshold of every series; what is not watched any more ends."""
        known = {(state.threshold, state.series): state for state in self._store.threshold_states()}
        states: list[ThresholdState] = []
        breaches: list[BreachDetail] = []
        for one in series:
            windows = _WindowsOfOne(self._samples, one, now)
            for configured, threshold in self._configured:
                if not configured.watches(one.service, one.model, one.category):
                    continue
                before = known.pop((threshold.name, one), None)
                breach = Breach() if before is None else _resumed(before)
                if breach.state is BreachState.OPEN and self._is_another(configured, one, breach):
                    breach = self._ended(configured.name, one, breach, breaches, now)
                fixed = self._limits.of(threshold, one)
                evaluation = evaluate(fixed, windows.of(fixed))
                taken = step(breach, fixed, evaluation, now=now.timestamp())
                states.append(_state(threshold.name, one, taken.breach, evaluation, now))
                if taken.resolved or taken.breach.state is BreachState.OPEN:
                    breaches.append(self._detail(configured, one, taken.breach, evaluation.records))
                if taken.opened or taken.resolved:
                    log.info(
                        "breach_opened" if taken.opened else "breach_resolved",
                        breach=self._breach_id(threshold.name, one, taken.breach.number),
                    )
        self._end(known, states, breaches, now)
        return Judged(states=tuple(states), breaches=tuple(breaches))

    def _end(
        self,
        left: Mapping[tuple[str, Series], ThresholdState],
        states: list[ThresholdState],
        breaches: list[BreachDetail],
        now: datetime,
    ) -> None:
        """A breach whose series is gone, or whose threshold was removed or renamed, would stay
        open for ever."""
        for (name, series), state in left.items():
            if state.state not in {BreachState.OPEN, BreachState.PENDING}:
                continue
            ended = self._ended(name, series, _resumed(state), breaches, now)
            states.append(
                replace(
                    state,
                    state=ended.state.value,
                    value=None,
                    reason=NoAnswer.NOT_WATCHED.value,
                    evaluated_at=now,
                    stored=ended.stored(),
                )
            )

    def _ended(
        self,
        name: str,
        series: Series,
        breach: Breach,
        breaches: list[BreachDetail],
        now: datetime,
    ) -> Breach:
        """The end of what is not watched any more."""
        ended = end(breach, now=now.timestamp())
        if breach.state is BreachState.OPEN:
            # As it was stored: what a removed threshold was is known nowhere else.
            key = self._breach_id(name, series, ended.number)
            detail = self._store.breach(key)
            if detail is not None:
                at = max(now, detail.breach.opened_at)  # also where the clock was set back
                row = replace(detail.breach, state=ended.state.value, resolved_at=at)
                breaches.append(replace(detail, breach=row))
            log.info("breach_ended_unwatched", breach=key)
        return ended

    def _is_another(self, configured: Configured, series: Series, breach: Breach) -> bool:
        """Whether the threshold had the name but watched something else when the breach opened:
        going on would rewrite what it was about."""
        detail = self._store.breach(self._breach_id(configured.name, series, breach.number))
        if detail is None:
            return False
        then, now = detail.breach, configured
        return (then.signal, then.statistic, then.comparison) != (
            now.signal,
            now.statistic,
            now.comparison,
        )

    def _detail(
        self, configured: Configured, series: Series, breach: Breach, records: int
    ) -> BreachDetail:
        opened = _moment(breach.opened_at or 0.0)
        since = breach.exceeded_since
        return BreachDetail(
            breach=BreachRow(
                id=self._breach_id(configured.name, series, breach.number),
                threshold=configured.name,
                series=series,
                number=breach.number,
                signal=configured.signal,
                statistic=configured.statistic,
                comparison=configured.comparison,
                severity=configured.severity,
                state=breach.state.value,
                exceeded_since=opened if since is None else _moment(since),
                opened_at=opened,
                resolved_at=None if breach.resolved_at is None else _moment(breach.resolved_at),
                value=breach.value,
                worst=breach.worst,
                limit=breach.limit,
                window_seconds=configured.window_seconds,
                records=records,
                acknowledged_at=None,
                acknowledged_by=None,
                note=None,
            ),
            contributors=tuple(
                BreachContributor(
                    record_id=each.record_id,
                    value=each.value,
                    weight=each.weight,
                    place=place,
                    release=each.release,
                    mark=None,
                    marked_by=None,
                    marked_at=None,
                )
                for place, each in enumerate(breach.contributors, start=1)
                if each.record_id != NO_RECORD
            ),
        )


class _WindowsOfOne:
    """The windows of one series; thresholds on the same records read them once."""

    def __init__(self, samples: Samples, series: Series, now: datetime) -> None:
        self._samples = samples
        self._series = series
        self._now = now
        self._read: dict[tuple[str, float], Records] = {}

    def of(self, threshold: Threshold) -> Records:
        key = (threshold.signal, threshold.window)
        if key not in self._read:
            self._read[key] = self._window(threshold)
        return self._read[key]

    def _window(self, threshold: Threshold) -> Records:
        if threshold.signal == AGE:
            minutes = self._samples.minutes_unscored(self._series, now=self._now)
            values = [] if minutes is None else [minutes]
            return Records(
                values=np.array(values, dtype=np.float64),
                weights=np.ones(len(values)),
                ids=(NO_RECORD,) * len(values),
            )
        since = self._now - timedelta(seconds=threshold.window)
        return records_of(
            self._samples.sample(self._series, threshold.signal, since=since, until=self._now)
        )


def _resumed(state: ThresholdState) -> Breach:
    """Where a threshold stood. One damaged row must not end the judging of all others; its number
    goes on, so that no id of a stored breach is used again."""
    try:
        return restore(state.stored)
    except MalformedInput as error:
        log.warning("threshold_restarted", threshold=state.threshold, problem=str(error))
        seen = state.evaluated_at.timestamp()
        if state.state == BreachState.OPEN:
            # The stored breach keeps its own times; it has to be able to end.
            return Breach(
                state=BreachState.OPEN, number=state.number, exceeded_since=seen, opened_at=seen
            )
        back = BreachState.OK if state.number == 0 else BreachState.RESOLVED
        return Breach(state=back, number=state.number, evaluated_at=seen)


def _state(
    name: str, series: Series, breach: Breach, evaluation: Evaluation, now: datetime
) -> ThresholdState:
    return ThresholdState(
        threshold=name,
        series=series,
        state=breach.state.value,
        number=breach.number,
        value=evaluation.value,
        limit=evaluation.limit,
        level=evaluation.level,
        records=evaluation.records,
        reason=None if evaluation.reason is None else evaluation.reason.value,
        evaluated_at=now,
        stored=breach.stored(),
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
