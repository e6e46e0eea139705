"""What a threshold would have done: as JSON objects and for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from monitor.breaches.lifecycle import Breach
from monitor.cli.output import interval, out, table
from monitor.cli.series import series_fields, series_name
from monitor.durations import duration
from monitor.settings import Threshold
from monitor.stores import now

if TYPE_CHECKING:
    from monitor.previewing import SeriesPreview, Span

SHOWN = 5
"""Contributing records that are named in the table; --json has all."""


def preview_fields(threshold: Threshold, span: Span, found: SeriesPreview) -> dict[str, Any]:
    """The object that `--json` prints: keys and order are part of the interface."""
    made = found.preview
    return {
        "threshold": threshold.name,
        "severity": threshold.severity,
        **series_fields(found.series),
        "since": span.since,
        "until": span.until,
        "every_seconds": span.every,
        "limit": found.limit,
        "reason": None if found.limit is not None else "no_reference",
        "records": found.records,
        "opened": len(made.breaches),
        "evaluations": made.evaluations,
        "unanswered": made.unanswered,
        "open_seconds": made.open_seconds,
        "breaches": [_breach(breach) for breach in made.breaches],
    }


def _breach(breach: Breach) -> dict[str, Any]:
    return {
        "state": breach.state,
        "exceeded_since": _moment(breach.exceeded_since),
        "opened_at": _moment(breach.opened_at),
        "resolved_at": _moment(breach.resolved_at),
        "worst": breach.worst,
        "limit": breach.limit,
        "contributors": [
            {
                "record": each.record_id,
                "value": each.value,
                "weight": each.weight,
                "release": each.release,
            }
            for each in breach.contributors
            if each.record_id
        ],
    }


def print_preview(threshold: Threshold, span: Span, found: Sequence[SeriesPreview]) -> None:
    """One line a series, then the breaches one by one."""
    count = sum(len(one.preview.breaches) for one in found)
    past = f"between {span.since:%Y-%m-%d %H:%M} and {span.until:%Y-%m-%d %H:%M}"
    if now() - span.until < timedelta(minutes=1):
        past = f"in the last {duration((span.until - span.since).total_seconds())}"
    kind = threshold.severity if count == 1 else f"{threshold.severity}s"
    table(
        ["series", "limit", "opened", "open for", "evaluations", "without answer"],
        [
            (
                series_name(one.series),
                one.limit if one.limit is not None else "no reference",
                str(len(one.preview.breaches)),
                duration(one.preview.open_seconds),
                str(one.preview.evaluations),
                f"{one.preview.unanswered / one.preview.evaluations:.0%}",
            )
            for one in found
        ],
        title=f"{threshold.name}: {count} {kind} {past} (one evaluation each "
        f"{duration(span.every)})",
    )
    breaches = [(one.series, breach) for one in found for breach in one.preview.breaches]
    if breaches:
        table(
            ["opened", "ended", "series", "worst", "records that contributed most"],
            [
                (
                    _moment(breach.opened_at),
                    _moment(breach.resolved_at) or "still open",
                    series_name(series),
                    interval(breach.worst, None, None),
                    ", ".join(each.record_id for each in breach.contributors[:SHOWN]),
                )
                for series, breach in breaches
            ],
        )
    out.print()


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
