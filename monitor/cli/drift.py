"""`hss-monitor drift`: what has moved away from its reference, and how the detectors behave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from monitor.cli.evaluating import note_evaluation
from monitor.cli.fitting import note_left
from monitor.cli.options import (
    Category,
    Config,
    Json,
    Model,
    Service,
    Since,
    moment,
    one_of,
    settings_of,
)
from monitor.cli.output import emit, note, table
from monitor.cli.series import series_fields
from monitor.cli.verdicts import print_changes, print_series
from monitor.errors import UsageError, choices
from monitor.findings import DRIFT_STATES, DriftChange, DriftFinding, Series
from monitor.stores import now, open_stores

drift = typer.Typer(
    help="Show what has drifted, and simulate the drift detectors.", no_args_is_help=True
)


@drift.callback()
def _drift() -> None:
    """Show what has drifted, and simulate the drift detectors."""


@drift.command("show")
def show(
    config: Config = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    signal: Annotated[str | None, typer.Option("--signal", help="Only this signal.")] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", help="Only signals that are insufficient, stable, suspect, …"),
    ] = None,
    since: Since = None,
    json_: Json = False,
) -> None:
    """The present verdict on every signal of every series, worst series first.

    With --since also each change of a verdict since then. Exit code 1 where something that
    was asked about is drifted.
    """
    settings = settings_of(config)
    if signal is not None and signal not in settings.drift.signals:
        raise UsageError(
            f"--signal: {signal!r} is not watched; drift.signals has "
            f"{choices(settings.drift.signals)}"
        )
    state = one_of("--state", state, DRIFT_STATES)
    start = moment("--since", since, now=now())
    changes: list[DriftChange] = []
    with open_stores(settings, create=False) as stores:
        findings = stores.drift.findings(
            service=service, model=model, category=category, signal=signal, state=state
        )
        if start is not None:
            changes = [
                change
                for change in stores.drift.changes(
                    since=start, service=service, model=model, category=category
                )
                if signal in {None, change.signal}
            ]
        evaluation = note_evaluation(stores, settings)
    left: list[str] = []
    for series, own in _by_series(findings):
        head = _head(series, own)
        if json_:
            emit({"kind": "series", **head})
            for finding in own:
                emit({"kind": "signal", **_row(finding)})
        else:
            left += print_series(series, head, own)
    if json_:
        for change in changes:
            emit({"kind": "change", **_change(change)})
    elif changes:
        left += print_changes(changes)
    note_left(left)
    if not findings:
        note("no verdict of this kind is stored")
    if evaluation is not None:
        note(evaluation)
    if any(finding.state == "drifted" for finding in findings):
        raise typer.Exit(1)


def _by_series(findings: Sequence[DriftFinding]) -> list[tuple[Series, list[DriftFinding]]]:
    """Worst series first, and within each the worst signal."""
    parts: dict[Series, list[DriftFinding]] = {}
    for finding in findings:
        parts.setdefault(finding.series, []).append(finding)
    for own in parts.values():
        own.sort(key=lambda finding: (-DRIFT_STATES.index(finding.state), finding.signal))
    return sorted(parts.items(), key=lambda part: (-DRIFT_STATES.index(part[1][0].state), part[0]))


def _head(series: Series, findings: Sequence[DriftFinding]) -> dict[str, Any]:
    """One verdict of a series from those of its signals: the worst, and what moved, the earliest
    first: often the cause."""
    moved = sorted(
        (finding.since or finding.evaluated_at, finding.signal)
        for finding in findings
        if finding.state == "drifted"
    )
    return {
        **series_fields(series),
        "state": max((finding.state for finding in findings), key=DRIFT_STATES.index),
        "moved": [signal for _, signal in moved],
        "since": moved[0][0] if moved else None,
        "evaluated_at": max(finding.evaluated_at for finding in findings),
    }


def _row(finding: DriftFinding) -> dict[str, Any]:
    """The object that `--json` prints: keys and order are part of the interface."""
    return {
        **series_fields(finding.series),
        "signal": finding.signal,
        "state": finding.state,
        "reason": finding.reason,
        "detail": finding.detail,
        "direction": finding.direction,
        "since": finding.since,
        "raised_at": finding.raised_at,
        "effect": finding.effect,
        "effect_low": finding.effect_low,
        "effect_high": finding.effect_high,
        "deviations": finding.deviations,
        "reference_mean": finding.reference_mean,
        "current_mean": finding.current_mean,
        "evidence": finding.evidence,
        "threshold": finding.threshold,
        "records": finding.records,
        "tests": {
            test.statistic: {
                "value": test.value,
                "p": test.p,
                "adjusted_p": test.adjusted_p,
                "reason": test.reason,
            }
            for test in finding.tests
        },
        "calibration": finding.calibration_id,
        "evaluated_at": finding.evaluated_at,
    }


def _change(change: DriftChange) -> dict[str, Any]:
    return {
        **series_fields(change.series),
        "signal": change.signal,
        "before": change.before,
        "after": change.after,
        "at": change.at,
        "since": change.since,
        "direction": change.direction,
    }


@drift.command("simulate")
def simulate(
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the made-up traffic.")] = 0,
    streams: Annotated[int, typer.Option("--streams", min=1, help="Streams a scenario.")] = 400,
    threshold: Annotated[
        float, typer.Option("--threshold", min=1.0, help="c of each one-sided e-detector.")
    ] = 10_000.0,
    detector: Annotated[
        list[str] | None, typer.Option("--detector", help="Only these; may be repeated.")
    ] = None,
    json_: Json = False,
) -> None:
    """False alarms and delays of the e-detector, beside river's detectors, PSI and KS."""
    # Brings SciPy, and river where it is installed.
    from monitor.drift.simulate import outpaced
    from monitor.drift.simulate import simulate as run

    rows = []
    for row in run(seed=seed, streams=streams, threshold=threshold, detectors=detector or None):
        rows.append(row)
        if json_:
            emit(row)
    if json_:
        return
    columns = list(rows[0].__slots__) if rows else []
    table(columns, [[getattr(row, column) for column in columns] for row in rows])
    for row in outpaced(rows):
        note(f"{row.detector} is quicker on {row.scenario}: {row.delay_median:.0f} records")
