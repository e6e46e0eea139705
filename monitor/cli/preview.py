"""`hss-monitor thresholds preview`: a threshold on the past, before it may wake anybody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.breaches.lifecycle import Breach
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
from monitor.cli.output import duration, emit, err, interval, note, out, table
from monitor.cli.series import series_fields, series_name
from monitor.cli.trial import limit_of, seconds_of, thresholds_tried
from monitor.errors import UsageError
from monitor.findings import Series
from monitor.settings import Settings, Threshold
from monitor.stores import Stores, now, open_stores

if TYPE_CHECKING:
    from monitor.previewing import References, SeriesPreview, Span

STEPS = 10_000
"""Evaluations that the default of --every allows for."""
SHOWN = 5
"""Contributing records that are named in the table; --json has all."""


def preview(
    name: Annotated[str | None, typer.Argument(help="A configured threshold.")] = None,
    every_one: Annotated[bool, typer.Option("--all", help="All that are configured.")] = False,
    config: Config = None,
    since: Annotated[
        str, typer.Option("--since", help="From this time on: 30d, 12h ago, or 2026-01-31.")
    ] = "30d",
    until: Until = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    signal: Annotated[
        str | None, typer.Option("--signal", help="Any stored signal: one not configured yet.")
    ] = None,
    statistic: Annotated[
        str | None, typer.Option("--statistic", help="mean, quantile or share_above.")
    ] = None,
    comparison: Annotated[
        str | None, typer.Option("--comparison", help="above or below: where it is bad.")
    ] = None,
    limit: Annotated[float | None, typer.Option("--limit", help="The limit, a number.")] = None,
    reference_quantile: Annotated[
        float | None,
        typer.Option("--reference-quantile", help="The limit, a quantile of the reference."),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option("--at-least", help="Never a smaller limit, with --reference-quantile."),
    ] = None,
    quantile: Annotated[
        float | None, typer.Option("--quantile", help="Which one, of --statistic quantile.")
    ] = None,
    level: Annotated[
        float | None,
        typer.Option("--level", help="Records above it count, of --statistic share_above."),
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", help="Length of the window: 1h, 30m.")
    ] = None,
    min_records: Annotated[
        int | None, typer.Option("--min-records", min=1, help="Fewer give no answer.")
    ] = None,
    hold: Annotated[
        str | None, typer.Option("--hold", help="How long it must be exceeded to open: 5m, 0s.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option("--margin", min=0.0, help="How far on the good side to end.")
    ] = None,
    calm: Annotated[
        str | None, typer.Option("--calm", help="How long it must be there: 10m, 0s.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            help="From one evaluation to the next. Default: evaluation.seconds, or longer where "
            "the past would take more than 10,000 of them.",
        ),
    ] = None,
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
    tried = thresholds_tried(
        settings, name, every_one, {k: v for k, v in changes.items() if v is not None}
    )
    start = moment("--since", since, now=now()) or datetime.min.replace(tzinfo=UTC)
    end = moment("--until", until, now=now()) or now()
    if start >= end:
        raise UsageError(f"--since: {since!r} is not before --until; widen the stretch")
    step = _step(settings, end - start, every)
    # Walks through days of records; the commands beside this one can do without.
    from monitor.previewing import Span, preview_threshold, watched_series

    span = Span(since=start, until=end, every=step)
    opened = 0
    with open_stores(settings, create=False) as stores:
        watched = watched_series(
            stores, since=start, service=service, model=model, category=category
        )
        if not watched:
            note("no series has records in this stretch: widen --since, or check the filters")
        references = _references(stores)
        for threshold in tried:
            found = []
            with err.status(f"{threshold.name}: {len(watched)} series"):
                for one in preview_threshold(
                    stores, threshold, watched, span, references=references
                ):
                    found.append(one)
            opened += sum(len(one.preview.breaches) for one in found)
            if json_:
                for one in found:
                    emit(_row(threshold, span, one))
            else:
                _print(threshold, span, found)
    if opened:
        raise typer.Exit(1)


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


def _step(settings: Settings, length: timedelta, every: str | None) -> float:
    if every is not None:
        return period("--every", every).total_seconds()
    return max(settings.evaluation.seconds, length.total_seconds() / STEPS)


def _row(threshold: Threshold, span: Span, found: SeriesPreview) -> dict[str, Any]:
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


def _print(threshold: Threshold, span: Span, found: Sequence[SeriesPreview]) -> None:
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
