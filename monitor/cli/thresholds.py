"""`hss-monitor thresholds`: where the configured thresholds stand, and what one would have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from monitor.breaches.lifecycle import LivePrecision, live_precision
from monitor.cli.evaluating import note_evaluation
from monitor.cli.fitting import Column, fitted, note_left, times
from monitor.cli.options import Category, Config, Json, Model, Service, settings_of
from monitor.cli.output import cell, counted, emit, interval, note, out
from monitor.cli.preview import preview
from monitor.cli.series import coloured_state, series_fields, series_name
from monitor.errors import UsageError, choices
from monitor.findings import ThresholdState
from monitor.settings import Threshold
from monitor.settings.rule import rule
from monitor.stores import open_stores

thresholds = typer.Typer(help="Show thresholds, and try them on the past.", no_args_is_help=True)
thresholds.command("preview")(preview)


def _words(reasons: Sequence[Any]) -> Sequence[Any]:
    """Reasons so that they can go on in the next line."""
    return [reason.replace("_", " ") for reason in reasons]


COLUMNS = (
    Column(name="series", wraps=True),
    Column(name="state"),
    Column(name="value"),
    Column(name="limit"),
    Column(name="records", rank=1),
    Column(name="breaches", rank=2),
    Column(name="evaluated", rank=3, short=times),
    Column(name="", rank=1, short=_words, wraps=True),
)
"""Of one threshold, a row a series."""


@thresholds.command("show")
def show(
    name: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    config: Config = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    json_: Json = False,
) -> None:
    """Each configured threshold, where it stands in every series, and how often it was right.

    Exit code 1 where a breach of one of them is open.
    """
    settings = settings_of(config)
    configured = {each.name: each for each in settings.thresholds}
    if name is not None and name not in configured:
        raise UsageError(f"NAME: {name!r} is not configured; there are {choices(configured)}")
    with open_stores(settings, create=False) as stores:
        states = stores.breaches.threshold_states(
            threshold=name, service=service, model=model, category=category
        )
        marks = {counts.threshold: counts for counts in stores.breaches.mark_counts()}
        evaluation = note_evaluation(stores, settings)
    shown = [each for each in configured.values() if name in {None, each.name}]
    precision = {
        each.name: live_precision(
            true=marks[each.name].true if each.name in marks else 0,
            false=marks[each.name].false if each.name in marks else 0,
        )
        for each in shown
    }
    narrow: list[str] = []
    for threshold in shown:
        own = [state for state in states if state.threshold == threshold.name]
        if json_:
            for state in own or (None,):
                emit(_row(threshold, state, precision[threshold.name]))
        else:
            narrow += _print(threshold, own, precision[threshold.name])
    note_left(narrow)
    left = sorted({state.threshold for state in states} - configured.keys())
    if left and name is None:
        note(f"no longer configured, but stored: {', '.join(left)}")
    if evaluation is not None:
        note(evaluation)
    if any(state.state == "open" and state.threshold in precision for state in states):
        raise typer.Exit(1)


def _row(
    threshold: Threshold, state: ThresholdState | None, precision: LivePrecision
) -> Mapping[str, Any]:
    """The object that `--json` prints: keys and order are part of the interface."""
    series = dict.fromkeys(("service", "model", "category"))
    return {
        "threshold": threshold.name,
        "signal": threshold.signal,
        "rule": rule(threshold),
        "severity": threshold.severity,
        **(series if state is None else series_fields(state.series)),
        "state": state and state.state,
        "value": state and state.value,
        "limit": state and state.limit,
        "level": state and state.level,
        "records": state and state.records,
        "reason": state and state.reason,
        "breaches": state and state.number,
        "evaluated_at": state and state.evaluated_at,
        "precision": precision.value,
        "precision_low": precision.low,
        "precision_high": precision.high,
        "marks": precision.marks,
    }


def _print(
    threshold: Threshold, states: Sequence[ThresholdState], precision: LivePrecision
) -> list[str]:
    """The names of the columns that are left out."""
    right = interval(precision.value, precision.low, precision.high)
    title = f"{threshold.name} ({threshold.severity}): {rule(threshold)}"
    if right is not None:
        title += f"; right {right}, by {counted(precision.marks, 'mark')}"
    if not states:
        out.print(cell(f"{title}; judged in no series yet"), soft_wrap=not out.is_terminal)
        return []
    return fitted(
        COLUMNS,
        [
            (
                series_name(state.series),
                coloured_state(state.state),
                state.value,
                state.limit,
                str(state.records),
                str(state.number),
                state.evaluated_at,
                state.reason or "",
            )
            for state in states
        ],
        title=title,
    )
