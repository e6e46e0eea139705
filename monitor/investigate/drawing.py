"""Facts turned into the pictures of their pages."""

from __future__ import annotations

from markupsafe import Markup

from monitor.investigate.breach import BreachFacts
from monitor.investigate.drift import SignalDrift
from monitor.investigate.pictures.histogram import Shape, histogram
from monitor.investigate.pictures.severity import severity_scale
from monitor.investigate.pictures.timeline import Moment, Point, timeline
from monitor.investigate.record_parts import RecordFacts
from monitor.investigate.words import signal_name
from monitor.storage.distributions import Distribution
from monitor.storage.trends import Trend

_UNIT = frozenset(
    {
        "hss",
        "entity_support",
        "number_support",
        "content_word_precision",
        "factcc",
        "shap_instability",
        "lime_instability",
        "smile_instability",
        "attention_instability",
        "skipped",
    }
)
"""Signals whose pictures show the whole of [0, 1], so that a small change looks small."""


def breach_course(facts: BreachFacts) -> Markup | None:
    """The signal through time with the limit and the breach's moments."""
    if facts.course is None:
        return None
    breach = facts.breach
    moments = [
        Moment(at=breach.exceeded_since, name="exceeded"),
        Moment(at=breach.opened_at, name="opened"),
    ]
    if breach.resolved_at is not None and breach.resolved_at <= facts.course.stretch.until:
        moments.append(Moment(at=breach.resolved_at, name="resolved"))
    # A quantile or a share has a limit in another unit than the mean that is drawn.
    limit = breach.limit if breach.statistic == "mean" else None
    return _course(facts.course, breach.signal, "breach-course", moments, limit)


def breach_spread(facts: BreachFacts) -> Markup | None:
    """The signal's distribution before and in the breach."""
    if facts.spread is None:
        return None
    limit = facts.breach.limit if facts.breach.statistic != "share_above" else None
    return _spread(
        facts.spread, facts.breach.signal, "breach-spread", ("before", "in the breach"), limit
    )


def drift_course(signal: SignalDrift) -> Markup | None:
    """A drifted signal around its change."""
    if signal.course is None:
        return None
    since, name = signal.finding.since, signal.finding.signal
    moments = [Moment(at=since, name="estimated change")] if since is not None else []
    raised = signal.finding.raised_at
    if raised is not None and raised < signal.course.stretch.until:
        moments.append(Moment(at=raised, name="raised"))
    return _course(signal.course, name, f"course-{name}", moments, None)


def drift_spread(signal: SignalDrift) -> Markup | None:
    """A signal's reference against the current window."""
    if signal.spread is None:
        return None
    name = signal.finding.signal
    return _spread(signal.spread, name, f"spread-{name}", ("reference", "now"), None)


def record_scale(facts: RecordFacts) -> Markup | None:
    """A record's HSS on its scale; None where it has none."""
    record, score = facts.record, facts.score
    if record.hss is None or score is None or not score.normalizer:
        return None
    null = None
    if record.null_distance is not None:
        null = min(record.null_distance / score.normalizer, 1.0)
    return severity_scale(
        id="severity",
        hss=record.hss,
        low=record.hss_low,
        high=record.hss_high,
        versions=[
            (version.normalized, version.strength)
            for version in facts.versions
            if version.normalized is not None
        ],
        null=null,
    )


def _course(
    course: Trend, signal: str, id: str, moments: list[Moment], limit: float | None
) -> Markup:
    return timeline(
        [Point(at=p.at, mean=p.mean, low=p.low, high=p.high) for p in course.points],
        id=id,
        signal=signal_name(signal),
        since=course.stretch.since,
        until=course.stretch.until,
        moments=moments,
        limit=limit,
        unit=signal in _UNIT,
    )


def _spread(
    spread: tuple[Distribution, Distribution],
    signal: str,
    id: str,
    names: tuple[str, str],
    limit: float | None,
) -> Markup:
    first, second = spread
    return histogram(
        Shape(name=names[0], shares=first.shares, mean=first.mean),
        Shape(name=names[1], shares=second.shares, mean=second.mean),
        id=id,
        signal=signal_name(signal),
        low=first.low,
        high=first.high,
        limit=limit,
    )
