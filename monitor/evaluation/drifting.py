"""The drift half of a turn: a finding for every signal of every watched series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from monitor.drift.comparison import Comparison
from monitor.drift.hajek import hajek_mean
from monitor.drift.permutation import BlockTest
from monitor.drift.promise import LEAST, evidence_needed, records_expected
from monitor.drift.reference import Insufficient, Lacking, Reference
from monitor.drift.verdict import DriftState, Verdict, judge
from monitor.drift.watch import Watch
from monitor.errors import MalformedInput
from monitor.evaluation.following import follow_signal, stored_state
from monitor.evaluation.ports import DriftStore, Samples
from monitor.evaluation.references import Held, References
from monitor.evaluation.windows import Key, Pair, Window, Windows
from monitor.findings import DriftChange, DriftFinding, DriftTest, Series, WatchState
from monitor.settings.watching import Drift

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Drifting:
    """What a turn found out about drift, to be saved together."""

    states: tuple[WatchState, ...]
    findings: tuple[DriftFinding, ...]
    changes: tuple[DriftChange, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Watched:
    """One signal of one series after its detector took the new records in."""

    key: Key
    held: Held | None
    threshold: float
    watch: Watch | None = None
    state: WatchState | None = None
    pair: Pair | None = None
    """The last three only with a usable reference."""


class DriftJudge:
    """Follows and compares all signals of the series that it is given."""

    def __init__(
        self,
        *,
        samples: Samples,
        store: DriftStore,
        references: References,
        windows: Windows,
        settings: Drift,
    ) -> None:
        self._samples = samples
        self._store = store
        self._references = references
        self._windows = windows
        self._settings = settings

    def judge(self, series: Sequence[tuple[Series, int]], *, now: datetime) -> Drifting:
        """Findings on `series`, each with its number of records in the drift window."""
        states = {(state.series, state.signal): state for state in self._store.watch_states()}
        before = {
            (finding.series, finding.signal): finding.state for finding in self._store.findings()
        }
        watched: list[_Watched] = []
        for one, recent in series:
            until = self._samples.finished_until(one, now=now)
            for signal in self._settings.signals:
                key = (one, signal)
                held = self._references.of(one, signal)
                threshold = self._threshold(held, recent, series=len(series))
                watched.append(self._follow(key, held, states.get(key), until, now, threshold))
        windows = self._windows.refresh(
            [each.pair for each in watched if each.pair is not None], now=now
        )
        findings = tuple(self._finding(each, windows.get(each.key), now) for each in watched)
        return Drifting(
            states=tuple(each.state for each in watched if each.state is not None),
            findings=findings,
            changes=_changes(before, findings),
        )

    def _follow(
        self,
        key: Key,
        held: Held | None,
        state: WatchState | None,
        until: datetime,
        now: datetime,
        threshold: float,
    ) -> _Watched:
        if held is None or not isinstance(held.reference, Reference):
            return _Watched(key=key, held=held, threshold=threshold)
        try:
            followed = follow_signal(
                self._samples,
                *key,
                held,
                held.reference,
                state,
                until=until,
                now=now,
                threshold=threshold,
                recovery=self._settings.recovery_records,
            )
        except MalformedInput as error:
            # One value that cannot be must not end the judging of everything else.
            log.error("signal_unusable", signal=key[1], problem=str(error))
            unusable = Insufficient(reason=Lacking.NO_REFERENCE, detail=str(error))
            return _Watched(key=key, held=replace(held, reference=unusable), threshold=threshold)
        return _Watched(
            key=key,
            held=held,
            threshold=threshold,
            watch=followed.watch,
            state=stored_state(*key, followed),
            pair=Pair(
                key=key,
                held=held,
                reference=held.reference,
                fresh=followed.taken,
                alarmed=followed.watch.alarm is not None,
            ),
        )

    def _threshold(self, held: Held | None, recent: int, *, series: int) -> float:
        if held is None or not isinstance(held.reference, Reference):
            return LEAST
        return evidence_needed(
            series=series,
            signals=len(self._settings.signals),
            records=records_expected(
                held.reference,
                recent=recent,
                recent_seconds=self._settings.window_seconds,
                days=self._settings.false_alarm_days,
            ),
        )

    def _finding(self, watched: _Watched, window: Window | None, now: datetime) -> DriftFinding:
        held = watched.held
        reference = None if held is None else held.reference
        verdict = judge(
            reference,
            watched.watch,
            None if window is None else window.sample,
            None if window is None else window.comparison,
            threshold=watched.threshold,
            min_records=self._settings.min_records,
        )
        if window is not None and len(window.sample.values) == 0 and verdict.alarm is None:
            verdict = _silent(verdict, self._settings.window_seconds)
        series, signal = watched.key
        effect, alarm = verdict.effect, verdict.alarm
        return DriftFinding(
            series=series,
            signal=signal,
            calibration_id=None if held is None else held.calibration.id,
            state=verdict.state.value,
            reason=None if verdict.lacking is None else verdict.lacking.reason.value,
            detail="" if verdict.lacking is None else verdict.lacking.detail,
            direction=None if alarm is None else alarm.direction,
            since=None if alarm is None else _moment(alarm.since),
            raised_at=None if alarm is None else _moment(alarm.raised_at),
            effect=None if effect is None else effect.value,
            effect_low=None if effect is None else effect.low,
            effect_high=None if effect is None else effect.high,
            deviations=None if effect is None else effect.deviations,
            reference_mean=reference.mean if isinstance(reference, Reference) else None,
            current_mean=_mean(window),
            evidence=verdict.evidence,
            threshold=watched.threshold,
            records=0 if window is None else len(window.sample.values),
            tests=() if verdict.comparison is None else _tests(verdict.comparison),
            evaluated_at=now,
        )


def _silent(verdict: Verdict, seconds: float) -> Verdict:
    """What was true a day ago is not known to be true now."""
    return replace(
        verdict,
        state=DriftState.INSUFFICIENT,
        lacking=Insufficient(
            reason=Lacking.TOO_FEW_RECORDS,
            detail=f"no record of the last {seconds / 3600:g} hours compares with the reference; "
            "calibrate again after models or settings of scoring were changed",
        ),
    )


def _mean(window: Window | None) -> float | None:
    if window is None or len(window.sample.values) == 0:
        return None
    return hajek_mean(window.sample.values, probabilities=window.sample.probabilities).value


def _tests(comparison: Comparison) -> tuple[DriftTest, ...]:
    return tuple(
        DriftTest(
            statistic=name,
            value=test.statistic if isinstance(test, BlockTest) else None,
            p=test.p if isinstance(test, BlockTest) else None,
            adjusted_p=comparison.adjusted.get(name),
            reason=None if isinstance(test, BlockTest) else test.reason.value,
            detail="" if isinstance(test, BlockTest) else test.detail,
        )
        for name, test in comparison.tests.items()
    )


def _changes(before: dict[Key, str], findings: Sequence[DriftFinding]) -> tuple[DriftChange, ...]:
    return tuple(
        DriftChange(
            series=finding.series,
            signal=finding.signal,
            before=was,
            after=finding.state,
            at=finding.evaluated_at,
            since=finding.since,
            direction=finding.direction,
        )
        for finding in findings
        if (was := before.get((finding.series, finding.signal), DriftState.INSUFFICIENT.value))
        != finding.state
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
