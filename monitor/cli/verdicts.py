"""Verdicts of drift for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monitor.cli.fitting import Column, fitted, times
from monitor.cli.output import cell, interval, moment_words, out
from monitor.cli.series import coloured_state, series_name
from monitor.findings import DriftChange, DriftFinding, Series
from monitor.investigate.words import effect_unit


def _without_deviations(effects: Sequence[Any]) -> Sequence[Any]:
    """Effects with their intervals only.

    >>> _without_deviations(["0.134 [0.075, 0.194] +1.5 SD", None])
    ['0.134 [0.075, 0.194]', None]
    """
    return [
        effect if effect is None or "]" not in effect else effect[: effect.index("]") + 1]
        for effect in effects
    ]


COLUMNS = (
    Column(name="signal"),
    Column(name="state"),
    Column(name="since", rank=1, short=times),
    Column(name="effect", short=_without_deviations),
    Column(name="evidence", rank=2),
    Column(name="least p", rank=4),
    Column(name="records", rank=3),
)
"""Of one series, a row a signal."""

CHANGES = (
    Column(name="at", short=times),
    Column(name="series", rank=1, once=True, wraps=True),
    Column(name="signal"),
    Column(name="from", rank=2),
    Column(name="to"),
    Column(name="since", rank=3, short=times),
    Column(name="direction", rank=4),
)
"""A row a change of a verdict."""


def print_series(
    series: Series, head: dict[str, Any], findings: Sequence[DriftFinding]
) -> list[str]:
    """One series; gives the names of the columns that are left out."""
    line = coloured_state(head["state"]).append("  ").append(series_name(series))
    if head["moved"]:
        line.append(cell(f": {', '.join(head['moved'])} since {moment_words(head['since'])}"))
    out.print(line, soft_wrap=not out.is_terminal)
    left = fitted(
        COLUMNS,
        [
            (
                finding.signal,
                coloured_state(finding.state).append(
                    f" {finding.direction}" if finding.direction else ""
                ),
                finding.since,
                _effect(finding),
                _evidence(finding),
                _least_p(finding),
                str(finding.records),
            )
            for finding in findings
        ],
    )
    reasons: dict[str, list[str]] = {}
    for finding in findings:
        if finding.reason is not None:
            reasons.setdefault(_reason(finding), []).append(finding.signal)
    for reason, signals in reasons.items():
        out.print(cell(f"{', '.join(signals)}: {reason}"), soft_wrap=not out.is_terminal)
    out.print()
    return left


def _reason(finding: DriftFinding) -> str:
    """The reason and what is known of it; a detail that begins with it says it alone."""
    words = (finding.reason or "").replace("_", " ")
    if finding.detail.startswith(words):
        return finding.detail
    return f"{words}: {finding.detail}" if finding.detail else words


def _evidence(finding: DriftFinding) -> str | None:
    """How far an alarm is."""
    if finding.evidence is None:
        return None
    value = f"{finding.evidence:,.0f}" if finding.evidence >= 100 else f"{finding.evidence:.1f}"
    return f"{value} of {finding.threshold:,.0f}"


def _effect(finding: DriftFinding) -> str | None:
    words = interval(finding.effect, finding.effect_low, finding.effect_high)
    if words is None:
        return None
    deviations = finding.deviations
    parts = (words, effect_unit(finding.signal), deviations is not None and f"{deviations:+.1f} SD")
    return " ".join(part for part in parts if part)


def _least_p(finding: DriftFinding) -> str | None:
    """The least of the corrected p-values, and of which statistic it is."""
    known = [
        (test.adjusted_p, test.statistic) for test in finding.tests if test.adjusted_p is not None
    ]
    return "{:.3f} {}".format(*min(known)) if known else None


def print_changes(changes: Sequence[DriftChange]) -> list[str]:
    """What became of verdicts; gives the names of the columns that are left out."""
    return fitted(
        CHANGES,
        [
            (
                change.at,
                series_name(change.series),
                change.signal,
                change.before,
                coloured_state(change.after),
                change.since,
                change.direction,
            )
            for change in changes
        ],
        title="Changes, newest first",
    )
