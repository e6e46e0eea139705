"""`hss-monitor records compare`: two records, or two models, releases or windows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.cli.audit import note_view
from monitor.cli.ids import record_of
from monitor.cli.options import (
    Category,
    Config,
    Json,
    Service,
    Since,
    Until,
    moment,
    one_of,
    settings_of,
    stretch,
)
from monitor.cli.output import emit, interval, note, table
from monitor.cli.pair import pair_fields, print_pair
from monitor.errors import UsageError
from monitor.investigate.record import facts_of
from monitor.investigate.record_parts import RecordFacts
from monitor.storage.detail import record_detail
from monitor.storage.queries import RecordFilter
from monitor.storage.windows import Signal
from monitor.stores import Stores, now, open_stores

if TYPE_CHECKING:
    from monitor.comparing import GroupComparison

SIGNALS = (
    Signal.HSS,
    Signal.RAW_DISTANCE,
    Signal.NULL_DISTANCE,
    Signal.EXCESS,
    Signal.ENTITY_SUPPORT,
    Signal.NUMBER_SUPPORT,
    Signal.SHAP_INSTABILITY,
    Signal.SUMMARY_WORDS,
)
LEVEL = (
    "intervals are 95 %; p is Welch's t test of the weighted means, variance clustered by trace. "
    "Without a difference it is below 5 % in 4.5 to 6.2 % of comparisons, in up to 7.5 % where "
    "records resemble the ones before them. Adjusted p-values are corrected over these signals "
    "(Holm), not over looking again"
)


def compare(
    records: Annotated[
        list[str] | None, typer.Argument(help="Two records; or none, and two groups below.")
    ] = None,
    config: Config = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Twice: compare these; once: only this.")
    ] = None,
    release: Annotated[
        list[str] | None, typer.Option("--release", help="Twice: compare these; once: only this.")
    ] = None,
    window: Annotated[
        list[str] | None,
        typer.Option("--window", help="Twice: compare these: 48h..24h and 24h.. for example."),
    ] = None,
    service: Service = None,
    category: Category = None,
    since: Since = None,
    until: Until = None,
    signal: Annotated[
        list[str] | None, typer.Option("--signal", help="Only these; may be repeated.")
    ] = None,
    json_: Json = False,
) -> None:
    """Two records side by side, or the means of two models, releases or windows with a test.

    Of --model, --release and --window exactly one is given twice; the rest narrows both groups.
    """
    if records:
        groups = (model, release, window, service, category, since, until, signal)
        if len(records) != 2 or any(groups):
            raise UsageError(
                "compare: give two records alone, or two of --model, --release or --window"
            )
        _records(records[0], records[1], config, json_)
        return
    chosen = dict.fromkeys(one_of("--signal", name, Signal) for name in signal or ())
    signals = tuple(chosen) or SIGNALS
    base = RecordFilter(
        service=service,
        category=category,
        since=moment("--since", since, now=now()),
        until=moment("--until", until, now=now()),
    )
    names, wanted = _groups(base, model or [], release or [], window or [])
    settings = settings_of(config)
    # Brings SciPy, which the commands beside this one can do without.
    from monitor.comparing import compare_groups

    with open_stores(settings, create=False) as stores:
        found = compare_groups(stores, wanted[0], wanted[1], signals=signals)
    if json_:
        for row in _rows(names, found):
            emit(row)
    else:
        _print(names, found)
    for group, name in ((found.first, names[0]), (found.second, names[1])):
        if not group.records:
            note(f"{name}: no scored record passes the filters")
    for warning in found.warnings:
        note(f"warning: {warning}")


def _groups(
    base: RecordFilter, models: list[str], releases: list[str], windows: list[str]
) -> tuple[tuple[str, str], tuple[RecordFilter, RecordFilter]]:
    """The names of both groups and what they hold."""
    given = {"--model": models, "--release": releases, "--window": windows}
    compared = [option for option, values in given.items() if len(values) == 2]
    if len(compared) != 1 or any(len(values) > 2 for values in given.values()):
        raise UsageError(
            "compare: give exactly one of --model, --release and --window twice, as in "
            "--model X --model Y --since 24h; or two records"
        )
    (option,) = compared
    if windows and (base.since is not None or base.until is not None):
        raise UsageError("--window: says from when to when; leave --since and --until out")
    if len(models) == 1:
        base = replace(base, model=models[0])
    if len(releases) == 1:
        base = replace(base, release=releases[0])
    stretches = [stretch("--window", value, now=now()) for value in windows]
    if len(stretches) == 1:
        base = replace(base, since=stretches[0][0], until=stretches[0][1])
    names = given[option]
    if option == "--window":
        wanted = [replace(base, since=since, until=until) for since, until in stretches]
    elif option == "--model":
        wanted = [replace(base, model=name) for name in names]
    else:
        wanted = [replace(base, release=name) for name in names]
    if wanted[0] == wanted[1]:
        raise UsageError(f"{option}: {names[0]!r} stands twice; name two different ones")
    return (names[0], names[1]), (wanted[0], wanted[1])


def _rows(names: tuple[str, str], found: GroupComparison) -> list[dict[str, Any]]:
    """The objects that `--json` prints: keys and order are part of the interface."""
    rows = []
    for each in found.signals:
        made = each.found
        rows.append(
            {
                "signal": each.signal,
                "first": {"name": names[0], "of": found.first.records, "mean": made and made.first},
                "second": {
                    "name": names[1],
                    "of": found.second.records,
                    "mean": made and made.second,
                },
                "difference": made and made.value,
                "low": made and made.low,
                "high": made and made.high,
                "p": made and made.p,
                "adjusted_p": each.adjusted_p,
                "reason": "no_records" if made is None else made.reason,
                "fingerprints": sorted({*found.first.fingerprints, *found.second.fingerprints}),
            }
        )
    return rows


def _print(names: tuple[str, str], found: GroupComparison) -> None:
    rows: list[tuple[Any, ...]] = []
    for each in found.signals:
        made = each.found
        if made is None:
            rows.append((each.signal, None, None, None, None, None, "no record in one of them"))
            continue
        first, second = made.first, made.second
        rows.append(
            (
                each.signal,
                f"{interval(first.value, first.low, first.high)} n={first.records}",
                f"{interval(second.value, second.low, second.high)} n={second.records}",
                interval(made.value, made.low, made.high),
                _p(made.p),
                _p(each.adjusted_p),
                made.reason or "",
            )
        )
    table(["signal", names[0], names[1], "difference", "p", "adjusted", ""], rows)
    for group, name in ((found.first, names[0]), (found.second, names[1])):
        releases = ", ".join(f"{release} ({n})" for release, n in group.releases.items())
        note(
            f"{name}: {group.records} scored records" + (f"; releases {releases}" * bool(releases))
        )
    note(LEVEL)


def _p(value: float | None) -> str | None:
    """
    >>> _p(0.0312), _p(0.00001), _p(None)
    ('0.031', '< 0.001', None)
    """
    if value is None:
        return None
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _records(first: str, second: str, config: Path | None, json_: bool) -> None:
    with open_stores(settings_of(config), create=False) as stores:
        pair = [_known(stores, record) for record in (first, second)]
        note_view(stores, *(facts.record.id for facts in pair if facts.document is not None))
    if json_:
        emit(pair_fields(pair[0], pair[1]))
    else:
        print_pair(pair[0], pair[1])


def _known(stores: Stores, record: str) -> RecordFacts:
    record = record_of(stores, record, argument="RECORDS")
    detail = record_detail(stores.database, record)
    if detail is None:
        raise UsageError(f"RECORDS: record {record!r} was pruned just now; choose another")
    return facts_of(detail)
