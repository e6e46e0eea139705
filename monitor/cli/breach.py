"""One breach: as one JSON object and for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from monitor.cli.output import cell, duration, harmless, interval, out, table
from monitor.cli.series import coloured_state, series_fields, series_name
from monitor.findings import BreachContributor, BreachDetail, BreachRow
from monitor.storage.queries import RecordRow
from monitor.stores import now

if TYPE_CHECKING:
    from monitor.comparing import BreachChange

RELEASES = 4
"""Releases that a line names; the others are counted."""


def breach_fields(row: BreachRow) -> dict[str, Any]:
    """The object that `--json` prints: keys and order are part of the interface."""
    return {
        "id": row.id,
        "threshold": row.threshold,
        **series_fields(row.series),
        "number": row.number,
        "signal": row.signal,
        "statistic": row.statistic,
        "comparison": row.comparison,
        "severity": row.severity,
        "state": row.state,
        "exceeded_since": row.exceeded_since,
        "opened_at": row.opened_at,
        "resolved_at": row.resolved_at,
        "value": row.value,
        "worst": row.worst,
        "limit": row.limit,
        "window_seconds": row.window_seconds,
        "records": row.records,
        "acknowledged_at": row.acknowledged_at,
        "acknowledged_by": row.acknowledged_by,
        "note": row.note,
    }


def print_breach(detail: BreachDetail, change: BreachChange, rows: Mapping[str, RecordRow]) -> None:
    """What, since when, how far, what changed, and the records that contributed most."""
    breach = detail.breach
    head = Text(harmless(breach.id), style="bold").append("  ")
    head.append(coloured_state(breach.state)).append(f" ({breach.severity})  ")
    out.print(head.append(series_name(breach.series)))
    facts: list[tuple[str, Any]] = [
        (
            "what",
            f"{breach.statistic} of {breach.signal} {breach.comparison} {_number(breach.limit)} "
            f"over {duration(breach.window_seconds)}: {_number(breach.value)}, at worst "
            f"{_number(breach.worst)} ({breach.records} records at the last evaluation)",
        ),
        ("exceeded since", f"{_time(breach.exceeded_since)} ({_ago(breach.exceeded_since)} ago)"),
        ("opened", breach.opened_at),
        ("resolved", breach.resolved_at),
        ("seen by", _acknowledged(breach)),
        (f"mean {breach.signal}", _means(change)),
        ("releases before", _releases(change.releases_before)),
        ("releases since", _releases(change.releases_after)),
        ("of these records", _contributing_releases(detail.contributors)),
    ]
    table(["", ""], facts)
    if not detail.contributors:
        out.print(cell("\nno single record contributed: see `hss-monitor doctor`"))
        return
    out.print(Text("\nThe records that contributed most", style="bold"))
    table(
        ["", "value", "stands for", "HSS", "entities", "numbers", "release", "reason", "mark"],
        [_row(each, rows.get(each.record_id)) for each in detail.contributors],
    )
    out.print(Text("\nTo look at them, to be seen to have looked, and to say what is right:"))
    for each in detail.contributors:
        out.print(cell(f"  hss-monitor records show {_word(each.record_id)}"))
    first = _word(detail.contributors[0].record_id)
    out.print(cell(f"  hss-monitor breaches ack {_word(breach.id)} --name …"))
    out.print(cell(f"  hss-monitor breaches mark {_word(breach.id)} {first} --right --name …"))


def _row(contributor: BreachContributor, row: RecordRow | None) -> tuple[Any, ...]:
    marks = {True: "right", False: "wrong", None: None}
    if row is None:
        known: tuple[Any, ...] = (None, None, None, contributor.release, "no longer stored")
    else:
        hss = interval(row.hss, row.hss_low, row.hss_high)
        known = (hss, row.entity_support, row.number_support, contributor.release, row.reason or "")
    return (
        contributor.place,
        contributor.value,
        f"{contributor.weight:.1f}",
        *known,
        marks[contributor.mark],
    )


def _means(change: BreachChange) -> str | None:
    """Both means and their difference, with the stretches that they are about."""
    found = change.found
    if found is None:
        return None
    first, second = found.first, found.second
    line = (
        f"{interval(first.value, first.low, first.high)} before ({first.records} records up to "
        f"{_time(change.before_until)}), {interval(second.value, second.low, second.high)} since "
        f"({second.records})"
    )
    if found.low is not None and found.high is not None:
        line += f": {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return line


def _releases(counts: Mapping[str, int]) -> str | None:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{release} ({count})" for release, count in ordered[:RELEASES]]
    if len(ordered) > RELEASES:
        words.append(f"and {len(ordered) - RELEASES} more")
    return ", ".join(words) or None


def _contributing_releases(contributors: tuple[BreachContributor, ...]) -> str | None:
    counts: dict[str, int] = {}
    for each in contributors:
        if each.release is not None:
            counts[each.release] = counts.get(each.release, 0) + 1
    return _releases(counts)


def _acknowledged(breach: BreachRow) -> str | None:
    if breach.acknowledged_at is None:
        return None
    words = f"{breach.acknowledged_by} at {_time(breach.acknowledged_at)}"
    return f"{words}: {breach.note}" if breach.note else words


def _word(value: str) -> str:
    """As one word of a shell: ids come from senders."""
    return shlex.quote(harmless(value))


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _ago(moment: datetime) -> str:
    return duration(max((now() - moment).total_seconds(), 0.0))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
