"""One breach: what, since when, how far, and what was different before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from monitor.breaches.thresholds import NoAnswer
from monitor.findings import BreachContributor, BreachRow, DriftFinding
from monitor.investigate.sources import Sources
from monitor.storage.comparison import record_rows
from monitor.storage.distributions import Distribution, Stretch, distributions
from monitor.storage.queries import RecordRow
from monitor.storage.releases import ReleaseCount, release_counts
from monitor.storage.search import known_series
from monitor.storage.signal_columns import has_columns
from monitor.storage.trends import Trend, trend

_WINDOWS_BEFORE: Final = 3
"""Windows of ordinary traffic that a breach is compared with."""
_NO_ANSWER: Final = {
    "too_few_records": "its window holds too few records to say that it is over",
    "no_reference": "no reference, or its records were pruned: run `hss-monitor calibrate`",
    "not_watched": "its threshold was changed or taken out, or its series is gone: no recovery",
}
_MOST: Final = timedelta(days=1)
"""Of a long breach, its first day is compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseChange:
    """One release of one model, before the breach and in it."""

    model: str
    release: str | None
    before: int
    """Sampled records."""
    after: int
    first_at: datetime
    """Its first record in either stretch."""
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
    before: Stretch
    """Ordinary traffic, up to the first record of the window that exceeded the limit …"""
    after: Stretch
    """… and from there to the end of the breach, at most a day."""
    spread: tuple[Distribution, Distribution] | None
    """Of the signal in both; None for a signal that single records do not have."""
    course: Trend | None
    """Of the signal through both."""
    releases: tuple[ReleaseChange, ...]
    """Of the same service and category, any model."""
    drift: tuple[DriftFinding, ...]
    """What the drift detector says about the series now, where it is no longer stable."""
    contributors: tuple[ContributingRecord, ...]
    """Greatest first."""


def breach_facts(sources: Sources, breach_id: str) -> BreachFacts | None:
    """The facts, or None for an unknown id."""
    detail = sources.breaches.breach(breach_id)
    if detail is None:
        return None
    now, breach = sources.clock(), detail.breach
    before, after = _stretches(breach, now)
    whole = Stretch(since=before.since, until=after.until)
    spread, course = None, None
    if has_columns(breach.signal):
        first, second = distributions(
            sources.database, breach.series, breach.signal, (before, after)
        )
        spread = (first, second)
        course = trend(sources.database, breach.series, breach.signal, whole)
    names = [each.record_id for each in detail.contributors]
    rows = record_rows(sources.database, names) if names else {}
    findings = sources.drift.findings(
        service=breach.series.service, model=breach.series.model, category=breach.series.category
    )
    return BreachFacts(
        as_of=now,
        breach=breach,
        unanswered=_unanswered(sources, breach),
        before=before,
        after=after,
        spread=spread,
        course=course,
        releases=_releases(sources, breach, before, after),
        drift=tuple(each for each in findings if each.state in {"drifted", "suspect"}),
        contributors=tuple(
            ContributingRecord(contributor=each, record=rows.get(each.record_id))
            for each in detail.contributors
        ),
    )


def _unanswered(sources: Sources, breach: BreachRow) -> str | None:
    states = sources.breaches.threshold_states(
        threshold=breach.threshold,
        service=breach.series.service,
        model=breach.series.model,
        category=breach.series.category,
    )
    # An older breach of the same threshold ended with an answer, or its reason is gone.
    state = next((each for each in states if each.number == breach.number), None)
    if state is None or state.reason is None:
        return None
    if breach.resolved_at is not None and (
        state.reason != NoAnswer.NOT_WATCHED or state.evaluated_at > breach.resolved_at
    ):
        return None  # of what came after it
    return _NO_ANSWER.get(state.reason, state.reason)


def _stretches(breach: BreachRow, now: datetime) -> tuple[Stretch, Stretch]:
    """The window that first exceeded the limit belongs to the breach: its records opened it."""
    window = timedelta(seconds=breach.window_seconds)
    start = breach.exceeded_since - window
    end = breach.resolved_at or now + timedelta(seconds=1)
    end = min(max(end, breach.exceeded_since), start + max(_MOST, window))
    return Stretch(since=start - _WINDOWS_BEFORE * window, until=start), Stretch(
        since=start, until=end
    )


def _releases(
    sources: Sources, breach: BreachRow, before: Stretch, after: Stretch
) -> tuple[ReleaseChange, ...]:
    series = [
        each
        for each in known_series(sources.database)
        if (each.service, each.category) == (breach.series.service, breach.series.category)
    ]
    counts: list[dict[tuple[str, str | None], ReleaseCount]] = [
        {(each.model, each.release): each for each in release_counts(sources.database, series, s)}
        for s in (before, after)
    ]
    changes = []
    for key in {*counts[0], *counts[1]}:
        found = [count[key] for count in counts if key in count]
        changes.append(
            ReleaseChange(
                model=key[0],
                release=key[1],
                before=counts[0][key].records if key in counts[0] else 0,
                after=counts[1][key].records if key in counts[1] else 0,
                first_at=min(each.first_at for each in found),
                last_at=max(each.last_at for each in found),
            )
        )
    own = breach.series.model
    return tuple(sorted(changes, key=lambda each: (each.model != own, each.model, each.first_at)))
