"""One breach: as one JSON object and for a terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from monitor.cli.output import cell, harmless, interval, known, moment_words, out, table
from monitor.cli.output import facts as facts_table
from monitor.cli.series import coloured_state, series_fields, series_name
from monitor.durations import duration
from monitor.findings import BreachContributor, BreachRow
from monitor.investigate.breach import BreachFacts, ContributingRecord
from monitor.stores import now

if TYPE_CHECKING:
    from monitor.drift.difference import Difference


def breach_fields(row: BreachRow) -> dict[str, Any]:
    """What `--json` prints of a breach in a list: keys and order are part of the interface."""
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


def contributor_fields(contributor: BreachContributor) -> dict[str, Any]:
    """A record of a breach, and what people said of it."""
    return {
        "record": contributor.record_id,
        "place": contributor.place,
        "value": contributor.value,
        "weight": contributor.weight,
        "release": contributor.release,
        "mark": contributor.mark,
        "marked_by": contributor.marked_by,
        "marked_at": contributor.marked_at,
    }


def facts_fields(facts: BreachFacts, found: Difference | None) -> dict[str, Any]:
    """What `breaches show --json` prints."""
    return {
        **breach_fields(facts.breach),
        "unanswered": facts.unanswered,
        "before": facts.before,
        "since": facts.after,
        "change": found,
        "releases": [
            {
                "model": each.model,
                "release": each.release,
                "before": each.before,
                "since": each.after,
                "first_at": each.first_at,
            }
            for each in facts.releases
        ],
        "drift": [
            {"signal": each.signal, "state": each.state, "since": each.since}
            for each in facts.drift
        ],
        "drift_over": facts.drift_over,
        "contributors": [_contributing(each) for each in facts.contributors],
    }


def _contributing(each: ContributingRecord) -> dict[str, Any]:
    row = each.record
    return {
        **contributor_fields(each.contributor),
        "state": row and row.state,
        "reason": row and row.reason,
        "hss": row and row.hss,
        "hss_low": row and row.hss_low,
        "hss_high": row and row.hss_high,
        "null_distance": row and row.null_distance,
        "entity_support": row and row.entity_support,
        "number_support": row and row.number_support,
        "command": f"hss-monitor records show {_word(each.contributor.record_id)}",
    }


def print_breach(facts: BreachFacts, found: Difference | None) -> None:
    """What, since when, how far, what changed, and the records that contributed most."""
    breach = facts.breach
    head = Text(harmless(breach.id), style="bold").append("  ")
    head.append(coloured_state(breach.state)).append(f" ({breach.severity})  ")
    out.print(head.append(series_name(breach.series)))
    rows: list[tuple[str, Any]] = [
        ("what", _what(breach, facts.level)),
        (
            "exceeded since" if breach.resolved_at is None else "exceeded from",
            f"{moment_words(breach.exceeded_since)} ({_ago(breach.exceeded_since)} ago)",
        ),
        ("opened", breach.opened_at),
        ("resolved", breach.resolved_at),
        ("no value now" if breach.resolved_at is None else "how it ended", facts.unanswered),
        ("seen by", _acknowledged(breach)),
        (f"mean {breach.signal}", _means(found)),
        ("drift", _drift(facts)),
        ("of these records", _releases_of(facts)),
    ]
    facts_table([row for row in rows if row[1] is not None])
    if facts.releases:
        table(
            ["model", "release", "records before", "since", "first seen", ""],
            [
                (
                    each.model,
                    each.release,
                    str(each.before),
                    str(each.after),
                    each.first_at,
                    each.news or "",
                )
                for each in facts.releases
            ],
            title=f"\nReleases: before is {moment_words(facts.before.since)} to "
            f"{moment_words(facts.before.until)}, since is {moment_words(facts.after.since)} to "
            f"{moment_words(facts.after.until)}"
            + (", from one window earlier: too few records came since" if facts.widened else ""),
        )
    if not facts.contributors:
        out.print(cell("\nno single record contributed: see `hss-monitor doctor`"))
        return
    table(
        ["", "value", "stands for", "HSS", "entities", "numbers", "release", "reason", "mark"],
        [_row(each) for each in facts.contributors],
        title="\nThe records that contributed most",
    )
    out.print(Text("\nTo look at them, to be seen to have looked, and to say what is right:"))
    for each in facts.contributors:
        out.print(cell(f"  hss-monitor records show {_word(each.contributor.record_id)}"))
    first = _word(facts.contributors[0].contributor.record_id)
    out.print(cell(f"  hss-monitor breaches ack {_word(breach.id)} --name …"))
    out.print(cell(f"  hss-monitor breaches mark {_word(breach.id)} {first} --right --name …"))


def _what(breach: BreachRow, level: float | None) -> str:
    """What was judged and how far it went; of a breach that is over, in the past tense."""
    above = f" {known(level)}" if breach.statistic == "share_above" else ""
    watched = (
        f"{breach.statistic}{above} of {breach.signal} {breach.comparison} {known(breach.limit)} "
        f"over {duration(breach.window_seconds)}"
    )
    if breach.resolved_at is not None:
        lasted = duration((breach.resolved_at - breach.exceeded_since).total_seconds())
        return f"{watched}: was {known(breach.worst)} at worst, resolved after {lasted}"
    return (
        f"{watched}: {known(breach.value)}, at worst {known(breach.worst)} "
        f"({breach.records} records at the last evaluation)"
    )


def _row(each: ContributingRecord) -> tuple[Any, ...]:
    marks = {True: "right", False: "wrong", None: None}
    contributor, row = each.contributor, each.record
    stored: tuple[Any, ...] = (None, None, None, contributor.release, "no longer stored")
    if row is not None:
        stored = (
            interval(row.hss, row.hss_low, row.hss_high),
            row.entity_support,
            row.number_support,
            contributor.release,
            row.reason or "",
        )
    return (
        contributor.place,
        contributor.value,
        f"{contributor.weight:.1f} records",
        *stored,
        marks[contributor.mark],
    )


def _means(found: Difference | None) -> str | None:
    """Both means, and how far they lie apart."""
    if found is None:
        return None
    first, second = found.first, found.second
    line = (
        f"{interval(first.value, first.low, first.high)} before ({first.records} records), "
        f"{interval(second.value, second.low, second.high)} since ({second.records})"
    )
    if found.low is not None and found.high is not None:
        line += f": {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return line


def _drift(facts: BreachFacts) -> str | None:
    words = [
        f"{each.signal} {each.state}" + (f" since {moment_words(each.since)}" if each.since else "")
        for each in facts.drift
    ]
    words += [
        f"{each.signal} drifted"
        + (f" since {moment_words(each.since)}" if each.since else "")
        + f" and is over since {moment_words(each.over_since)}"
        for each in facts.drift_over
    ]
    return ", ".join(words) or None


def _releases_of(facts: BreachFacts) -> str | None:
    counts = Counter(each.contributor.release for each in facts.contributors)
    words = [
        f"{count} of release {release}"
        for release, count in counts.most_common()
        if release is not None
    ]
    return ", ".join(words) or None


def _acknowledged(breach: BreachRow) -> str | None:
    if breach.acknowledged_at is None:
        return None
    words = f"{breach.acknowledged_by} at {moment_words(breach.acknowledged_at)}"
    return f"{words}: {breach.note}" if breach.note else words


def _word(value: str) -> str:
    """As one word of a shell: ids come from senders."""
    return shlex.quote(harmless(value))


def _ago(moment: datetime) -> str:
    return duration(max((now() - moment).total_seconds(), 0.0))
