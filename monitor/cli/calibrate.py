"""`hss-monitor calibrate`: frozen normalizers and references, made on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from monitor.cli.calibrations import calibration_fields
from monitor.cli.options import Config, Json, Model, Service, Since, Until, moment, settings_of
from monitor.cli.output import emit, note, table
from monitor.findings import StoredReference
from monitor.records import Calibration
from monitor.stores import now, open_stores


def calibrate(
    config: Config = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the reference window.")
    ] = "reference",
    since: Since = None,
    until: Until = None,
    service: Service = None,
    model: Model = None,
    release: Annotated[
        str | None, typer.Option("--release", help="Only what this release wrote.")
    ] = None,
    fingerprint: Annotated[
        str | None, typer.Option("--fingerprint", help="Beginning of one, where there are several.")
    ] = None,
    activate: Annotated[
        bool, typer.Option(help="Normalize new scores with it from now on.")
    ] = True,
    apply: Annotated[
        bool | None,
        typer.Option(
            "--apply/--no-apply",
            help="Give the scores of the window the new normalizer as well. Default: where it is "
            "activated.",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Compute M_c from stored scores, the 95th percentile of distances by category, and freeze
    what drift is measured against: the references of every signal.

    Of a stretch of time (--since, --until), a release, or both. Series that it holds nothing of
    keep the references that they have.
    """
    # Bring SciPy; the commands beside this one can do without.
    from monitor.calibrating import Window
    from monitor.recalibrating import recalibrate

    settings = settings_of(config)
    window = Window(
        name=name,
        since=moment("--since", since, now=now()),
        # A window without an end would go on growing, and its references with it.
        until=moment("--until", until, now=now()) or now(),
        service=service,
        model=model,
        release=release,
    )
    # What waits to be approved must not change what people and detectors see meanwhile.
    apply_ = activate if apply is None else apply
    with open_stores(settings, create=False) as stores:
        made = recalibrate(
            stores, window, settings, fingerprint=fingerprint, activate=activate, apply=apply_
        )
    if json_:
        emit(
            {
                **calibration_fields(made.calibration, activate),
                "renormalized": made.renormalized,
                "references": _count(made.references),
            }
        )
        return
    _print(made.calibration)
    _print_references(made.references)
    state = "active" if activate else "stored"
    note(f"{state}; {made.renormalized} scores were normalized with it")


def _count(references: Sequence[StoredReference]) -> dict[str, int]:
    return {
        "usable": sum(each.fitted is not None for each in references),
        "insufficient": sum(each.fitted is None for each in references),
        "unstable": sum(each.warning is not None for each in references),
        "kept": sum(each.origin is not None for each in references),
    }


def _print_references(references: Sequence[StoredReference]) -> None:
    table(
        ["service", "model", "category", "signal", "records", "reference"],
        [
            (
                each.series.service,
                each.series.model,
                each.series.category,
                each.signal,
                each.records,
                _told(each),
            )
            for each in references
        ],
        title="references of drift",
    )
    for each in references:
        if each.warning is not None:
            name = "/".join((each.series.service, each.series.model, each.series.category))
            note(f"warning: {name} {each.signal}: {each.warning}")


def _told(reference: StoredReference) -> str:
    found = "usable" if reference.fitted is not None else str(reference.reason)
    if reference.origin is not None:
        found = f"{found}, of {reference.origin}"
    return f"{found}: {reference.detail}" if reference.detail else found


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
