"""`hss-monitor calibrate` and `calibrations`: frozen normalizers, made on purpose."""

from __future__ import annotations

from typing import Annotated

import typer

from monitor.cli.options import Config, Json, Model, Service, Since, Until, moment, settings_of
from monitor.cli.output import emit, note, table
from monitor.errors import UsageError
from monitor.findings import StoredReference
from monitor.records import Calibration
from monitor.stores import now, open_stores

calibrations = typer.Typer(help="List and activate stored calibrations.", no_args_is_help=True)


def calibrate(
    config: Config = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the reference window.")
    ] = "reference",
    since: Since = None,
    until: Until = None,
    service: Service = None,
    model: Model = None,
    fingerprint: Annotated[
        str | None, typer.Option("--fingerprint", help="Beginning of one, where there are several.")
    ] = None,
    activate: Annotated[
        bool, typer.Option(help="Normalize new scores with it from now on.")
    ] = True,
    apply: Annotated[
        bool, typer.Option(help="Give the scores of the window the new normalizer as well.")
    ] = True,
    json_: Json = False,
) -> None:
    """Compute M_c from stored scores, the 95th percentile of distances by category, and freeze
    what drift is measured against: the references of every signal."""
    # Bring SciPy; the commands beside this one can do without.
    from monitor.calibrating import Window, calibrate_window, renormalize
    from monitor.drift_references import fit_references

    settings = settings_of(config)
    window = Window(
        name=name,
        since=moment("--since", since, now=now()),
        # A window without an end would go on growing, and its references with it.
        until=moment("--until", until, now=now()) or now(),
        service=service,
        model=model,
    )
    with open_stores(settings) as stores:
        made = calibrate_window(
            stores,
            window,
            fingerprint=fingerprint,
            min_documents=settings.calibration.min_documents,
        )
        stores.calibrations.add(made, activate=False)
        references = fit_references(stores, made, window, settings.drift)
        stores.drift.save_references(references)
        changed = renormalize(stores, made, window) if apply else 0
        # Last of all: an evaluator that sees it active finds its references complete.
        if activate:
            stores.calibrations.activate(made.id)
    if json_:
        emit({**_row(made, activate), "renormalized": changed, "references": _count(references)})
        return
    _print(made)
    _print_references(references)
    note(f"{'active' if activate else 'stored'}; {changed} scores were normalized with it")


@calibrations.command("list")
def list_(config: Config = None, json_: Json = False) -> None:
    """Stored calibrations, newest first."""
    with open_stores(settings_of(config)) as stores:
        stored = stores.calibrations.all()
    if json_:
        for calibration, active in stored:
            emit(_row(calibration, active))
        return
    table(
        ["id", "active", "window", "created", "pooled M", "documents", "fingerprint"],
        [
            (
                calibration.id,
                "yes" if active else "",
                calibration.window + (" (provisional)" if calibration.provisional else ""),
                calibration.created_at,
                calibration.normalizers[0].value,
                calibration.normalizers[0].documents,
                calibration.fingerprint[:12],
            )
            for calibration, active in stored
        ],
    )


@calibrations.command("compare")
def compare(first: str, second: str, config: Config = None, json_: Json = False) -> None:
    """Two calibrations side by side, category by category."""
    with open_stores(settings_of(config)) as stores:
        one, two = (_known(stores.calibrations.get(name), name) for name in (first, second))
    values = [{entry.category: entry for entry in each.normalizers} for each in (one, two)]
    rows = []
    for category in dict.fromkeys([*values[0], *values[1]]):
        a, b = values[0].get(category), values[1].get(category)
        rows.append(
            {
                "category": category,
                "first": a and a.value,
                "first_low": a and a.low,
                "first_high": a and a.high,
                "second": b and b.value,
                "second_low": b and b.low,
                "second_high": b and b.high,
                "ratio": b.value / a.value if a and b else None,
            }
        )
    if one.fingerprint != two.fingerprint:
        changed = sorted(
            key
            for key in {*one.settings, *two.settings}
            if one.settings.get(key) != two.settings.get(key)
        )
        note(f"their settings differ ({', '.join(changed)}): the distances do not compare")
    if json_:
        for row in rows:
            emit(row)
        return
    table(
        list(rows[0]),
        [
            tuple("pooled" if v is None and k == "category" else v for k, v in r.items())
            for r in rows
        ],
    )


@calibrations.command("activate")
def activate(calibration: str, config: Config = None, json_: Json = False) -> None:
    """Normalize new scores with a stored calibration; also the way back to an old one."""
    with open_stores(settings_of(config)) as stores:
        activated = stores.calibrations.activate(calibration)
    if json_:
        emit(_row(activated, True))
    else:
        note(f"{activated.id} is active for fingerprint {activated.fingerprint[:12]}")


def _known(calibration: Calibration | None, name: str) -> Calibration:
    if calibration is None:
        raise UsageError(
            f"calibration: {name!r} is not stored; see `hss-monitor calibrations list`"
        )
    return calibration


def _count(references: list[StoredReference]) -> dict[str, int]:
    return {
        "usable": sum(each.fitted is not None for each in references),
        "insufficient": sum(each.fitted is None for each in references),
        "unstable": sum(each.warning is not None for each in references),
    }


def _print_references(references: list[StoredReference]) -> None:
    table(
        ["service", "model", "category", "signal", "records", "reference"],
        [
            (
                each.series.service,
                each.series.model,
                each.series.category,
                each.signal,
                each.records,
                "usable" if each.fitted is not None else f"{each.reason}: {each.detail}",
            )
            for each in references
        ],
        title="references of drift",
    )
    for each in references:
        if each.warning is not None:
            name = "/".join((each.series.service, each.series.model, each.series.category))
            note(f"warning: {name} {each.signal}: {each.warning}")


def _row(calibration: Calibration, active: bool) -> dict[str, object]:
    return {
        "id": calibration.id,
        "active": active,
        "window": calibration.window,
        "since": calibration.since,
        "until": calibration.until,
        "created_at": calibration.created_at,
        "provisional": calibration.provisional,
        "fingerprint": calibration.fingerprint,
        "settings": calibration.settings,
        "normalizers": calibration.normalizers,
        "warnings": calibration.warnings,
    }


def _print(calibration: Calibration) -> None:
    table(
        ["category", "M_c", "low", "high", "documents", "distances"],
        [
            (
                "pooled" if entry.category is None else entry.category,
                entry.value,
                entry.low,
                entry.high,
                entry.documents,
                entry.distances,
            )
            for entry in calibration.normalizers
        ],
        title=f"calibration {calibration.id} ({calibration.window})",
    )
    for warning in calibration.warnings:
        note(f"warning: {warning}")
