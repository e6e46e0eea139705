"""The life of a breach: ok → pending → open → resolved, then pending again.

    ok, resolved   exceeded                       → pending (open at once with hold = 0)
    pending        exceeded for `hold` seconds     → open: one page
                   not exceeded                    → ok (or back to resolved)
    open           on the good side by `margin`
                   for `calm` seconds              → resolved
                   in between, or no answer        → stays open

No answer (too few records) changes no state and starts the clocks of `hold` and `calm` anew:
silence of the traffic is no recovery, and staleness has a threshold of its own.

All functions are pure; times are handed in. The state is stored after each step, so that
another evaluator can go on with it; a step that is not later than the last does nothing, so
no breach opens twice. One that is earlier by more than `ports.SET_BACK` says that the clock was set
back: its times of holding and of calm then run on from there, instead of standing still until
the clock has caught up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from math import sqrt
from typing import Any

from monitor.breaches.thresholds import Comparison, Contributor, Evaluation, Threshold
from monitor.errors import MalformedInput
from monitor.ports import SET_BACK


class BreachState(StrEnum):
    OK = "ok"
    PENDING = "pending"
    OPEN = "open"
    RESOLVED = "resolved"


@dataclass(frozen=True, kw_only=True, slots=True)
class Breach:
    """Where one threshold of one stratum stands. Times are seconds since the epoch."""

    state: BreachState = BreachState.OK
    number: int = 0
    """Counts the breaches of this threshold and stratum that opened; names the present one."""
    exceeded_since: float | None = None
    """Start of the present excess: "since when"."""
    opened_at: float | None = None
    resolved_at: float | None = None
    calm_since: float | None = None
    """Start of the present calm while open."""
    evaluated_at: float | None = None
    value: float | None = None
    """The statistic at the last evaluation that had an answer."""
    limit: float | None = None
    worst: float | None = None
    """The farthest beyond the limit while pending or open."""
    contributors: tuple[Contributor, ...] = ()
    """Those of the worst moment."""

    def stored(self) -> dict[str, Any]:
        """Plain data for a JSON column; `restore` is its inverse."""
        return {**asdict(self), "state": self.state.value}


def restore(stored: Mapping[str, Any]) -> Breach:
    """A breach from what `Breach.stored` gave, also after a round trip through JSON.

    Raises `MalformedInput` for anything else.

    >>> restore(Breach(number=2).stored()).number
    2
    """
    try:
        state, given = BreachState(stored["state"]), stored["contributors"]
        contributors = tuple(Contributor(**each) for each in given)
        return Breach(**{**stored, "state": state, "contributors": contributors})
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedInput(
            "state",
            f"{sorted(stored)} cannot be read ({type(error).__name__}: {error})",
            "drop the stored state; the threshold then starts anew",
        ) from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What one evaluation did to a breach."""

    breach: Breach
    opened: bool
    """This very step opened it: the one page."""
    resolved: bool


def step(breach: Breach, threshold: Threshold, evaluation: Evaluation, *, now: float) -> Step:
    """Take one evaluation in. Steps go forward: one that is not later than the last does
    nothing, unless the clock was set back."""
    if breach.evaluated_at is not None and now <= breach.evaluated_at:
        if breach.evaluated_at - now <= SET_BACK.total_seconds():
            return Step(breach=breach, opened=False, resolved=False)
        breach = _set_back(breach, now)
    seen = replace(breach, evaluated_at=now)
    if evaluation.value is None:
        # Neither the time of holding nor that of calm runs on through an unknown stretch.
        unknown = replace(seen, calm_since=None)
        if seen.state is BreachState.PENDING:
            unknown = replace(unknown, exceeded_since=None)
        return Step(breach=unknown, opened=False, resolved=False)
    seen = replace(seen, value=evaluation.value, limit=evaluation.limit)
    if breach.state is BreachState.OPEN:
        return _while_open(seen, threshold, evaluation, now)
    return _while_closed(seen, threshold, evaluation, now)


def end(breach: Breach, *, now: float) -> Breach:
    """What is not watched any more (its threshold or its series is gone) is in no breach."""
    if breach.state is BreachState.OPEN:
        return replace(
            breach,
            state=BreachState.RESOLVED,
            resolved_at=_behind(breach, now),
            evaluated_at=now,
            calm_since=None,
        )
    back = BreachState.OK if breach.number == 0 else BreachState.RESOLVED
    if breach.state is BreachState.PENDING:
        breach = replace(breach, exceeded_since=None, worst=None, contributors=())
    return replace(breach, state=back, evaluated_at=now)


@dataclass(frozen=True, kw_only=True, slots=True)
class LivePrecision:
    """How often a threshold was right, by the marks of on-call people."""

    value: float | None
    """True marks / marks; `None` without marks."""
    low: float | None
    """95 % interval (Wilson's, which does not collapse at 0 and 1)."""
    high: float | None
    marks: int


def live_precision(*, true: int, false: int) -> LivePrecision:
    """Precision of a threshold from records marked as rightly and as wrongly contributing.

    >>> live_precision(true=3, false=1).value
    0.75
    """
    marks = true + false
    if marks == 0:
        return LivePrecision(value=None, low=None, high=None, marks=0)
    z = 1.959964
    share = true / marks
    centre = (share + z**2 / (2 * marks)) / (1 + z**2 / marks)
    margin = z / (1 + z**2 / marks) * sqrt(share * (1 - share) / marks + (z / (2 * marks)) ** 2)
    return LivePrecision(
        value=share, low=max(centre - margin, 0.0), high=min(centre + margin, 1.0), marks=marks
    )


def _while_closed(seen: Breach, threshold: Threshold, evaluation: Evaluation, now: float) -> Step:
    if not evaluation.exceeded:
        back = BreachState.OK if seen.number == 0 else BreachState.RESOLVED
        calm = replace(seen, state=back)
        if seen.state is BreachState.PENDING:
            calm = replace(calm, exceeded_since=None, worst=None, contributors=())
        return Step(breach=calm, opened=False, resolved=False)
    if seen.state is not BreachState.PENDING:
        seen = replace(
            seen, state=BreachState.PENDING, exceeded_since=None, worst=None, contributors=()
        )
    since = now if seen.exceeded_since is None else seen.exceeded_since
    seen = _with_worst(replace(seen, exceeded_since=since), threshold, evaluation)
    if now - since < threshold.hold:
        return Step(breach=seen, opened=False, resolved=False)
    opened = replace(
        seen,
        state=BreachState.OPEN,
        number=seen.number + 1,
        opened_at=now,
        resolved_at=None,
        calm_since=None,
    )
    return Step(breach=opened, opened=True, resolved=False)


def _while_open(seen: Breach, threshold: Threshold, evaluation: Evaluation, now: float) -> Step:
    if evaluation.exceeded:
        seen = _with_worst(seen, threshold, evaluation)
    if not evaluation.calm:
        return Step(breach=replace(seen, calm_since=None), opened=False, resolved=False)
    since = now if seen.calm_since is None else seen.calm_since
    if now - since < threshold.calm:
        return Step(breach=replace(seen, calm_since=since), opened=False, resolved=False)
    resolved = replace(
        seen, state=BreachState.RESOLVED, resolved_at=_behind(seen, now), calm_since=None
    )
    return Step(breach=resolved, opened=False, resolved=True)


def _set_back(breach: Breach, now: float) -> Breach:
    """No time of holding or calm begins in the future; `opened_at` stays as it was told."""
    since, calm = breach.exceeded_since, breach.calm_since
    return replace(
        breach,
        exceeded_since=None if since is None else min(since, now),
        calm_since=None if calm is None else min(calm, now),
    )


def _behind(breach: Breach, now: float) -> float:
    """When a breach ends: not before it opened, whatever the clock says."""
    return now if breach.opened_at is None else max(now, breach.opened_at)


def _with_worst(seen: Breach, threshold: Threshold, evaluation: Evaluation) -> Breach:
    sign = 1.0 if threshold.comparison is Comparison.ABOVE else -1.0
    value = evaluation.value
    if value is None or (seen.worst is not None and sign * value <= sign * seen.worst):
        return seen
    return replace(seen, worst=value, contributors=evaluation.contributors)
