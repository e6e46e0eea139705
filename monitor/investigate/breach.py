"""One breach: what, since when, how far, and what was different before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from monitor.breaches.thresholds import NoAnswer, Statistic, Threshold
from monitor.findings import BreachContributor, BreachRow, DriftFinding, Series, ThresholdState
from monitor.investigate import breach_stretches
from monitor.investigate.breach_drift import EndedDrift, drift_in
from monitor.investigate.breach_stretches import last_moment, threshold_behind
from monitor.investigate.sources import Sources
from monitor.storage.comparison import record_rows
from monitor.storage.distributions import Distribution, Stretch, distributions
from monitor.storage.queries import RecordRow
from monitor.storage.releases import ReleaseCount, release_counts
from monitor.storage.search import known_series
from monitor.storage.signal_columns import has_columns
from monitor.storage.trends import Trend, trend

_LEAST: Final = 30
"""Records in a breach whose threshold is not configured any more, as by default."""
_NO_ANSWER: Final = {
    "too_few_records": "its window holds too few records to say that it is over",
    "no_reference": "no reference, or its records were pruned: run `hss-monitor calibrate`",
    "not_watched": "its threshold was changed or taken out, or its series is gone: no recovery",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseChange:
    """One release, before the breach and in it."""

    model: str
    release: str | None
    before: int
    """Sampled records."""
    after: int
    first_at: datetime
    """Its first record from the beginning of `before` on."""
    last_at: datetime

    @property
    def news(self) -> str | None:
        """Whether it came or went with the breach."""
        if not self.before:
            return "new"
        return "gone" if not self.after else None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContributingRecord:
    """A contributor and its record."""

    contributor: BreachContributor
    record: RecordRow | None
    """None: retention took it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachFacts:
    """Everything about one breach."""

    as_of: datetime
    breach: BreachRow
    unanswered: str | None
    """Why its threshold has no value now: the state is that of the last one that there was. Of a
    resolved breach only that its watching ended, which is no recovery."""
    level: float | None
    """Of a share above a level, as it applies now; None for another statistic, or unknown."""
    before: Stretch
    """Ordinary traffic, up to where the window begins that first exceeded the limit."""
    after: Stretch
    """In the breach: from the first excess until now or, of a resolved one, until its calm began
    (where its threshold is configured; else until it was resolved); at most a day."""
    widened: bool
    """`after` begins with that window, one earlier: since the first excess fewer records came
    than the threshold asks for."""
    spread: tuple[Distribution, Distribution] | None
    """Of the signal in both; None for a signal that single records do not have."""
    course: Trend | None
    """Of the signal, from the beginning of `before` to the end of the breach."""
    releases: tuple[ReleaseChange, ...]
    """Of the series; where its model has no record before, of all models of its service and
    category. First and last record also from between the two stretches."""
    drift: tuple[DriftFinding, ...]
    """What the drift detector says about the series now, where it is no longer stable; of a
    resolved breach, what began to drift before its end."""
    drift_over: tuple[EndedDrift, ...]
    """What drifted in the breach, and does so no longer."""
    contributors: tuple[ContributingRecord, ...]
    """Greatest first."""


def breach_facts(sources: Sources, breach_id: str) -> BreachFacts | None:
    """The facts, or None for an unknown id."""
    detail = sources.breaches.breach(breach_id)
    if detail is None:
        return None
    now, breach = sources.clock(), detail.breach
    state = _state(sources, breach)
    threshold = threshold_behind(breach, sources.thresholds)
    before = breach_stretches.before(breach)
    after = breach_stretches.inside(breach, threshold, now)
    spread = _spread(sources, breach, before, after)
    least = _LEAST if threshold is None else threshold.min_records
    widened = spread is None or spread[1].records < least
    if widened:
        after = Stretch(since=before.until, until=after.until)
        spread = _spread(sources, breach, before, after)
    course = None
    if has_columns(breach.signal):
        whole = Stretch(since=before.since, until=last_moment(breach, now))
        course = trend(sources.database, breach.series, breach.signal, whole)
    names = [each.record_id for each in detail.contributors]
    rows = record_rows(sources.database, names) if names else {}
    drift, drift_over = drift_in(sources, breach)
    return BreachFacts(
        as_of=now,
        breach=breach,
        unanswered=_unanswered(state, breach),
        level=_level(breach, state, threshold),
        before=before,
        after=after,
        widened=widened,
        spread=spread,
        course=course,
        releases=_releases(sources, breach, before, after),
        drift=drift,
        drift_over=drift_over,
        contributors=tuple(
            ContributingRecord(contributor=each, record=rows.get(each.record_id))
            for each in detail.contributors
        ),
    )


def _state(sources: Sources, breach: BreachRow) -> ThresholdState | None:
    """Where its threshold stands; None for an older breach: the state is of the last one."""
    states = sources.breaches.threshold_states(
        threshold=breach.threshold,
        service=breach.series.service,
        model=breach.series.model,
        category=breach.series.category,
    )
    return next((each for each in states if each.number == breach.number), None)


def _level(
    breach: BreachRow, state: ThresholdState | None, threshold: Threshold | None
) -> float | None:
    if breach.statistic != Statistic.SHARE_ABOVE:
        return None
    if state is not None and state.level is not None:
        return state.level
    return None if threshold is None or threshold.level is None else threshold.level.value


def _unanswered(state: ThresholdState | None, breach: BreachRow) -> str | None:
    # An older breach of the same threshold ended with an answer, or its reason is gone.
    if state is None or state.reason is None:
        return None
    if breach.resolved_at is not None and (
        state.reason != NoAnswer.NOT_WATCHED or state.evaluated_at > breach.resolved_at
    ):
        return None  # of what came after it
    return _NO_ANSWER.get(state.reason, state.reason)


def _spread(
    sources: Sources, breach: BreachRow, before: Stretch, after: Stretch
) -> tuple[Distribution, Distribution] | None:
    if not has_columns(breach.signal):
        return None
    first, second = distributions(sources.database, breach.series, breach.signal, (before, after))
    return first, second


def _releases(
    sources: Sources, breach: BreachRow, before: Stretch, after: Stretch
) -> tuple[ReleaseChange, ...]:
    stretches = (before, Stretch(since=before.until, until=after.since), after)
    counts = _counts(sources, [breach.series], stretches)
    if not counts[0]:
        # Its model is new here: what it took the place of is the change.
        counts = _counts(sources, _beside(sources, breach.series), stretches)
    first, _, last = counts
    changes = []
    for key in {key for each in counts for key in each}:
        found = [count[key] for count in counts if key in count]
        changes.append(
            ReleaseChange(
                model=key[0],
                release=key[1],
                before=first[key].records if key in first else 0,
                after=last[key].records if key in last else 0,
                first_at=min(each.first_at for each in found),
                last_at=max(each.last_at for each in found),
            )
        )
    own = breach.series.model
    return tuple(sorted(changes, key=lambda each: (each.model != own, each.model, each.first_at)))


def _counts(
    sources: Sources, series: Sequence[Series], stretches: Sequence[Stretch]
) -> list[dict[tuple[str, str | None], ReleaseCount]]:
    """Of each stretch, by model and release."""
    return [
        {
            (each.model, each.release): each
            for each in release_counts(sources.database, series, stretch)
        }
        for stretch in stretches
    ]


def _beside(sources: Sources, series: Series) -> list[Series]:
    """All models of its service and category."""
    return [
        each
        for each in known_series(sources.database)
        if (each.service, each.category) == (series.service, series.category)
    ]
