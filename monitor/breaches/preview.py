"""What a threshold would have done: the same evaluation and life, over stored scores.

The past is walked through in steps of `every` seconds; at each, the records of the window
behind it are judged exactly as they would have been then. So a threshold can be tried on 30
days of traffic before it may wake anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.breaches.lifecycle import Breach, BreachState, step
from monitor.breaches.thresholds import Threshold, evaluate
from monitor.breaches.window import Records
from monitor.errors import MalformedInput
from monitor.records import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """What would have happened."""

    breaches: tuple[Breach, ...]
    """Each as it stood at its end (or still open at `until`), in order: so many pages."""
    evaluations: int
    unanswered: int
    """Evaluations without an answer: too few records, or no reference."""
    open_seconds: float
    """Time with an open breach."""


def preview(
    threshold: Threshold,
    stored: Records,
    times: FloatArray,
    *,
    since: float,
    until: float,
    every: float = 60.0,
) -> Preview:
    """Walk from `since` to `until`, seconds since the epoch, over `stored` records.

    `times` (n,) of the records ascend; hand in records from `since − window` on. A window at t
    holds t − window < time ≤ t. Stretches without a record cost nothing while no breach is
    pending or open: nothing can change in them.
    """
    if every <= 0:
        raise MalformedInput("every", f"{every!r} is not positive", "use the default, 60")
    if len(times) != len(stored.values) or (np.diff(times) < 0).any():
        raise MalformedInput(
            "times", f"{len(times)} times, not one a record in ascending order", "sort by time"
        )
    breach, found = Breach(), list[Breach]()
    evaluations = unanswered = 0
    moments = np.arange(since, until + every / 2, every)
    starts = np.searchsorted(times, moments - threshold.window, side="right")
    ends = np.searchsorted(times, moments, side="right")
    for now, start, end in zip(moments.tolist(), starts, ends, strict=True):
        if start == end and breach.state not in {BreachState.PENDING, BreachState.OPEN}:
            evaluations += 1
            unanswered += 1
            continue
        window = Records(
            values=stored.values[start:end],
            weights=stored.weights[start:end],
            ids=stored.ids[start:end],
            releases=None if stored.releases is None else stored.releases[start:end],
        )
        evaluation = evaluate(threshold, window)
        evaluations += 1
        unanswered += evaluation.value is None
        taken = step(breach, threshold, evaluation, now=now)
        breach = taken.breach
        if taken.opened:
            found.append(breach)
        elif found and (taken.resolved or breach.state is BreachState.OPEN):
            found[-1] = breach
    return Preview(
        breaches=tuple(found),
        evaluations=evaluations,
        unanswered=unanswered,
        open_seconds=sum(
            (until if each.resolved_at is None else each.resolved_at) - (each.opened_at or 0.0)
            for each in found
        ),
    )
