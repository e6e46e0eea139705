"""`hss-monitor calibrations`: which there are, how they differ, which one is active."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, interval, note, table
from monitor.cli.series import series_name
from monitor.errors import UsageError
from monitor.findings import Series
from monitor.records import Calibration, Normalizer
from monitor.stores import Stores, now, open_stores

calibrations = typer.Typer(
    help="List, compare, activate and roll back calibrations.", no_args_is_help=True
)


@calibrations.command("list")
def list_(config: Config = None, json_: Json = False) -> None:
    """Stored calibrations, newest first, with what makes them doubtful."""
    with open_stores(settings_of(config), create=False) as stores:
        stored = stores.calibrations.all()
        warnings = {calibration.id: _warnings(stores, calibration) for calibration, _ in stored}
    if json_:
        for calibration, active in stored:
            emit({**calibration_fields(calibration, active), "warnings": warnings[calibration.id]})
        return
    table(
        ["id", "active", "window", "created", "pooled M", "documents", "fingerprint", "warnings"],
        [
            (
                calibration.id,
                "yes" if active else "",
                _window(calibration),
                calibration.created_at,
                _interval(calibration.normalizers[0]),
                calibration.normalizers[0].documents,
                calibration.fingerprint[:12],
                str(len(warnings[calibration.id])),
            )
            for calibration, active in stored
        ],
    )
    for calibration, _ in stored:
        for warning in warnings[calibration.id]:
            note(f"warning: {calibration.id}: {warning}")


@calibrations.command("compare")
def compare(first: str, second: str, config: Config = None, json_: Json = False) -> None:
    """Two calibrations side by side, category by category."""
    with open_stores(settings_of(config), create=False) as stores:
        one, two = (_known(stores.calibrations.get(name), name) for name in (first, second))
        warnings = {each.id: _warnings(stores, each) for each in (one, two)}
    values = [{entry.category: entry for entry in each.normalizers} for each in (one, two)]
    rows: list[dict[str, Any]] = []
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
    for name, found in warnings.items():
        for warning in found:
            note(f"warning: {name}: {warning}")
    if json_:
        for row in rows:
            emit(row)
        return
    table(
        ["category", one.id, two.id, "ratio"],
        [
            (
                "pooled" if row["category"] is None else row["category"],
                _interval(values[0].get(row["category"])),
                _interval(values[1].get(row["category"])),
                row["ratio"],
            )
            for row in rows
        ],
    )


@calibrations.command("activate")
def activate(
    calibration: str,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply/--no-apply",
            help="Give the scores since the beginning of its window its normalizer as well.",
        ),
    ] = False,
    config: Config = None,
    json_: Json = False,
) -> None:
    """Normalize new scores with a stored calibration; also the way back to an old one."""
    with open_stores(settings_of(config), create=False) as stores:
        wanted = _known(stores.calibrations.get(calibration), calibration)
        uncovered = stores.drift.uncovered(wanted.id)
        changed = _apply(stores, wanted) if apply else 0
        activated = stores.calibrations.activate(wanted.id)
    if json_:
        emit({**calibration_fields(activated, True), "renormalized": changed})
    else:
        note(
            f"{activated.id} is active for fingerprint {activated.fingerprint[:12]}; "
            f"{changed} scores were normalized with it"
        )
    _tell_uncovered(uncovered)


@calibrations.command("rollback")
def rollback(
    fingerprint: Annotated[
        str | None,
        typer.Option("--fingerprint", help="Beginning of one, where several are calibrated."),
    ] = None,
    config: Config = None,
    json_: Json = False,
) -> None:
    """Activate the calibration that was made before the active one, of the same fingerprint."""
    with open_stores(settings_of(config), create=False) as stores:
        stored = [
            (calibration, active)
            for calibration, active in stores.calibrations.all()
            if not calibration.provisional
            and (fingerprint is None or calibration.fingerprint.startswith(fingerprint))
        ]
        before, after = _rolled_back(stored)
        uncovered = stores.drift.uncovered(after.id)
        stores.calibrations.activate(after.id)
    if json_:
        emit({**calibration_fields(after, True), "before": before.id})
    else:
        note(f"{after.id} is active again, {before.id} no longer; scores keep their HSS")
    _tell_uncovered(uncovered)


def _apply(stores: Stores, calibration: Calibration) -> int:
    # Brings SciPy; the commands beside this one can do without.
    from monitor.calibrating import Window, renormalize

    window = Window(name=calibration.window, since=calibration.since, until=now())
    return renormalize(stores, calibration, window, kept=False)


def _tell_uncovered(uncovered: list[Series]) -> None:
    for series in uncovered:
        note(
            f"warning: {series_name(series).plain}: it has no reference in this calibration, so "
            "its drift is not judged; see `hss-monitor calibrate`"
        )


def _rolled_back(
    stored: list[tuple[Calibration, bool]],
) -> tuple[Calibration, Calibration]:
    """The active calibration and the newest one before it."""
    active = [calibration for calibration, is_active in stored if is_active]
    if len(active) != 1:
        marks = ", ".join(calibration.fingerprint[:12] for calibration in active)
        raise UsageError(
            f"--fingerprint: calibrations of several are active ({marks}); name one"
            if active
            else "rollback: no calibration of your own is active; see "
            "`hss-monitor calibrations list`"
        )
    (present,) = active
    earlier = [
        calibration
        for calibration, _ in stored
        if calibration.fingerprint == present.fingerprint
        and (calibration.created_at, calibration.id) < (present.created_at, present.id)
    ]
    if not earlier:
        raise UsageError(
            f"rollback: {present.id} is the first of its fingerprint; activate another one with "
            "`hss-monitor calibrations activate`"
        )
    return present, max(earlier, key=lambda each: (each.created_at, each.id))


def _warnings(stores: Stores, calibration: Calibration) -> list[str]:
    """What makes a calibration doubtful: its own warnings, and references that were not steady."""
    unsteady: dict[str, list[str]] = {}
    for reference in stores.drift.references(calibration.id):
        if reference.warning is not None:
            name = series_name(reference.series).plain
            unsteady.setdefault(name, []).append(reference.signal)
    return [
        *calibration.warnings,
        *(
            f"{name}: the halves of the reference differ in {', '.join(signals)}"
            for name, signals in unsteady.items()
        ),
    ]


def _window(calibration: Calibration) -> str:
    """Its name, and what else it is."""
    release = [] if calibration.release is None else [f"release {calibration.release}"]
    more = ["provisional"] * calibration.provisional + release
    return calibration.window + (f" ({', '.join(more)})" if more else "")


def _interval(normalizer: Normalizer | None) -> str | None:
    if normalizer is None:
        return None
    return interval(normalizer.value, normalizer.low, normalizer.high)


def _known(calibration: Calibration | None, name: str) -> Calibration:
    if calibration is None:
        raise UsageError(
            f"calibration: {name!r} is not stored; see `hss-monitor calibrations list`"
        )
    return calibration


def calibration_fields(calibration: Calibration, active: bool) -> dict[str, object]:
    """What `--json` prints of a calibration: keys and order are part of the interface."""
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
        "release": calibration.release,
    }
