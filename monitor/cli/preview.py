"""`hss-monitor thresholds preview`: a threshold on the past, before it may wake anybody."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.breaches.configured import AGE
from monitor.breaches.window import Records
from monitor.cli.options import (
    Category,
    Config,
    Json,
    Model,
    Service,
    Until,
    moment,
    period,
    settings_of,
)
from monitor.cli.output import emit, err, note
from monitor.cli.previewed import preview_fields, print_preview
from monitor.cli.trial import limit_of, seconds_of, thresholds_tried
from monitor.durations import duration
from monitor.errors import UsageError
from monitor.findings import Series
from monitor.settings import Settings, Threshold
from monitor.stores import Stores, now, open_stores

if TYPE_CHECKING:
    from monitor.previewing import References, Span

STEPS = 10_000
"""Evaluations that the default of --every allows for."""

Name = Annotated[str | None, typer.Argument(help="A configured threshold.")]
All = Annotated[bool, typer.Option("--all", help="All that are configured.")]
Past = Annotated[
    str, typer.Option("--since", help="From this time on: 30d, 12h ago, or 2026-01-31.")
]
Signal = Annotated[
    str | None, typer.Option("--signal", help="Any stored signal: one not configured yet.")
]
Statistic = Annotated[
    str | None, typer.Option("--statistic", help="mean, quantile or share_above.")
]
Comparison = Annotated[
    str | None, typer.Option("--comparison", help="above or below: where it is bad.")
]
Limit = Annotated[float | None, typer.Option("--limit", help="The limit, a number.")]
ReferenceQuantile = Annotated[
    float | None,
    typer.Option("--reference-quantile", help="The limit, a quantile of the reference."),
]
AtLeast = Annotated[
    float | None,
    typer.Option("--at-least", help="Never a smaller limit, with --reference-quantile."),
]
Quantile = Annotated[
    float | None, typer.Option("--quantile", help="Which one, of --statistic quantile.")
]
Level = Annotated[
    float | None,
    typer.Option("--level", help="Records above it count, of --statistic share_above."),
]
Window = Annotated[str | None, typer.Option("--window", help="Length of the window: 1h, 30m.")]
MinRecords = Annotated[
    int | None, typer.Option("--min-records", min=1, help="Fewer give no answer.")
]
Hold = Annotated[
    str | None, typer.Option("--hold", help="How long it must be exceeded to open: 5m, 0s.")
]
Margin = Annotated[
    float | None, typer.Option("--margin", min=0.0, help="How far on the good side to end.")
]
Calm = Annotated[str | None, typer.Option("--calm", help="How long it must be there: 10m, 0s.")]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        help="From one evaluation to the next. Default: evaluation.seconds, or longer where "
        f"the past would take more than {STEPS:,} of them, but at most half a window.",
    ),
]


def preview(
    name: Name = None,
    every_one: All = False,
    config: Config = None,
    since: Past = "30d",
    until: Until = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    signal: Signal = None,
    statistic: Statistic = None,
    comparison: Comparison = None,
    limit: Limit = None,
    reference_quantile: ReferenceQuantile = None,
    at_least: AtLeast = None,
    quantile: Quantile = None,
    level: Level = None,
    window: Window = None,
    min_records: MinRecords = None,
    hold: Hold = None,
    margin: Margin = None,
    calm: Calm = None,
    every: Every = None,
    json_: Json = False,
) -> None:
    """What a threshold would have done, over stored scores: which breaches, by which records.

    Of a configured one, options replace single keys: `preview hss_mean --limit 0.7`. Exit
    code 1 where it would have opened a breach.
    """
    settings = settings_of(config)
    changes = {
        "signal": signal,
        "statistic": statistic,
        "comparison": comparison,
        "limit": limit_of(limit, reference_quantile, at_least),
        "quantile": quantile,
        "level": None if level is None else {"value": level},
        "window_seconds": seconds_of("--window", window),
        "min_records": min_records,
        "hold_seconds": seconds_of("--hold", hold),
        "margin": margin,
        "calm_seconds": seconds_of("--calm", calm),
    }
    given = {key: value for key, value in changes.items() if value is not None}
    tried = thresholds_tried(settings, name, every_one, given)
    whole = _span(settings, since, until, every)
    # Brings SciPy; the commands beside this one can do without.
    from monitor.previewing import preview_threshold, watched_series

    opened = 0
    with open_stores(settings, create=False) as stores:
        watched = watched_series(
            stores, since=whole.since, service=service, model=model, category=category
        )
        if not watched:
            note("no series has records in this stretch: widen --since, or check the filters")
        references = _references(stores)
        for threshold in tried:
            span = _fine(whole, threshold, given=every is not None)
            with err.status(f"{threshold.name}: {len(watched)} series"):
                walk = preview_threshold(stores, threshold, watched, span, references=references)
                found = list(walk)
            opened += sum(len(one.preview.breaches) for one in found)
            if json_:
                for one in found:
                    emit(preview_fields(threshold, span, one))
            else:
                print_preview(threshold, span, found)
    if opened:
        raise typer.Exit(1)


def _span(settings: Settings, since: str, until: str | None, every: str | None) -> Span:
    from monitor.previewing import Span

    start = moment("--since", since, now=now()) or datetime.min.replace(tzinfo=UTC)
    end = moment("--until", until, now=now()) or now()
    if start >= end:
        raise UsageError(f"--since: {since!r} is not before --until; widen the stretch")
    if every is not None:
        step = period("--every", every).total_seconds()
    else:
        step = max(settings.evaluation.seconds, (end - start).total_seconds() / STEPS)
    return Span(since=start, until=end, every=step)


def _fine(span: Span, threshold: Threshold, *, given: bool) -> Span:
    """Evaluations so close that each record lies in the windows of two.

    A step that was asked for stays; what it passes over is told.
    """
    window = threshold.window_seconds
    if threshold.signal == AGE or span.every <= window / 2:
        return span
    if not given:
        return replace(span, every=window / 2)
    if span.every > window:
        note(
            f"--every: {duration(span.every)} is longer than the window of {threshold.name}, so "
            f"records between are in none; take at most {duration(window / 2)}"
        )
    return span


def _references(stores: Stores) -> References:
    """Reference records as the evaluator gets them."""
    # Brings SciPy.
    from monitor.breaches.stored import records_of
    from monitor.evaluation.references import References as Held
    from monitor.evaluator import SqlSamples

    held, samples = Held(stores.calibrations, stores.drift), SqlSamples(stores)
    held.refresh()

    def find(series: Series, signal: str) -> Records | None:
        calibration = held.calibration(series)
        if calibration is None:
            return None
        sample = samples.reference(series, signal, calibration, until=calibration.created_at)
        return records_of(sample) if len(sample) else None

    return find
