"""`hss-monitor demo`: the whole product on one machine, from nothing to an explained record."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from shutil import which
from signal import SIGTERM, signal
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from monitor import logs
from monitor.cli.options import Json
from monitor.cli.output import cell, emit, err, note, out
from monitor.demo.correlation import correlation
from monitor.demo.processes import require_free
from monitor.records import RecordState
from monitor.storage.detail import record_detail
from monitor.storage.queries import RecordRow
from monitor.stores import open_stores

if TYPE_CHECKING:
    from monitor.demo.play import Estimate, Play, Scene
    from monitor.demo.watching import Watching


def demo(
    once: Annotated[bool, typer.Option("--once", help="End when the play is over.")] = False,
    port: Annotated[int, typer.Option("--port", help="Port of the sidecar.")] = 8318,
    folder: Annotated[
        Path, typer.Option("--folder", help="Where runs keep database, key, configuration, logs.")
    ] = Path("hss-demo"),
    json_: Json = False,
) -> None:
    """Run a summarization service with the sidecar beside it, and let it go bad.

    Real news articles are summarized by a good release, the sidecar is calibrated on the
    first of them, then a bad release comes: watch HSS rise, entity support fall, the drift
    detector fire and a breach open. At last the good release comes back, and both end.
    """
    # Brings SciPy, for the calibration; the sidecar starts from this command line as well.
    from monitor.demo.play import Play

    logs.configure("warning", "console")
    require_free(port)
    # Ended by a signal it would leave service and sidecar behind.
    signal(SIGTERM, _leave)
    run = folder / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    started = time.monotonic()
    note(f"pages: http://127.0.0.1:{port}/ while it runs; all that is kept: {run}/")
    with Live(console=err, refresh_per_second=4, transient=False) as live:
        play = Play(run, port=port, show=_audience(live))
        try:
            play.run()
            result = _result(play, seconds=time.monotonic() - started)
            if not json_:
                _explain(play, result)
        except BaseException:
            note("stopping the sidecar and the service; this takes some seconds")
            play.stop()
            raise
    if json_ and once:
        play.stop()
        emit(result)
        return
    if json_:
        emit(result)
    if once:
        play.stop()
        return
    note(f"the sidecar goes on at {play.url} (metrics at {play.url}/metrics); Ctrl-C ends it")
    try:
        while True:
            time.sleep(1.0)
            for child in play.children():
                child.keep_running()
    except KeyboardInterrupt:
        note("stopping")
    finally:
        play.stop()


def _audience(live: Live) -> Callable[[Scene], None]:
    """Shows each scene; where nothing can be drawn over, in a pipe or a file, each act once."""
    told = set()

    def show(scene: Scene) -> None:
        live.update(_picture(scene))
        if not live.console.is_terminal and scene.act in _TITLES and scene.act not in told:
            told.add(scene.act)
            note(_TITLES[scene.act])

    return show


def _program() -> str:
    """What to type: `deploy/demo.sh` leaves its virtual environment off the path."""
    return "hss-monitor" if which("hss-monitor") else sys.argv[0]


def _leave(*_: object) -> None:
    raise SystemExit(0)


def _result(play: Play, *, seconds: float) -> dict[str, Any]:
    scene, counted = play.scene, play.counted()
    states = scene.states()
    scored = [
        row for rows in scene.records.values() for row in rows if row.state is RecordState.SCORED
    ]
    result: dict[str, Any] = {
        "calls": scene.calls,
        "received": int(counted.get("hss_records_received_total", 0)),
        "sampled": int(counted.get("hss_records_sampled_total", 0)),
        "scored": states[RecordState.SCORED],
        "skipped": states[RecordState.SKIPPED],
        "failed": states[RecordState.FAILED],
        "replays_ignored": int(counted.get("hss_replays_ignored_total", 0)),
    }
    for act in ("good", "bad"):
        hss = _of(scene, act, "hss")
        result[f"hss_mean_{act}"] = hss.mean
        result[f"hss_ci_{act}"] = hss.interval
    for act in ("good", "bad"):
        result[f"entity_support_{act}"] = _of(scene, act, "entity_support").mean
        result[f"number_support_{act}"] = _of(scene, act, "number_support").mean
    for name in ("shap_instability", "shap_noise_floor"):
        for act in ("good", "bad"):
            result[f"{name}_{act}"] = _of(scene, act, name).mean
    r, interval = correlation([(row.hss, row.shap_instability) for row in scored])
    result |= {"hss_shap_correlation": r, "hss_shap_correlation_ci": interval}
    result |= {
        "calibration": scene.calibration,
        "core_seconds_per_record": counted.get("hss_score_core_seconds_total", 0.0)
        / max(1, len(scored)),
        "seconds": seconds,
        "worst": max(scene.records.get("bad", []), key=lambda row: row.hss or 0.0, default=None),
        "database": play.settings.database.url,
    }
    worst: RecordRow | None = result["worst"]
    result["worst"] = worst and worst.id
    return result | _found(scene.watching)


def _found(watching: Watching) -> dict[str, Any]:
    """What the evaluator said, in the fields of the result."""
    breach = None if watching.breach is None else watching.breach.breach
    contributors = () if watching.breach is None else watching.breach.contributors
    return {
        "drifted": bool(watching.drifted),
        "drift_signals": sorted(watching.drifted),
        "drift_since": watching.since(),
        "drift_over": bool(watching.drifted) and not watching.drifted_now,
        "breach": breach and breach.id,
        "breach_threshold": breach and breach.threshold,
        "breach_opened_at": breach and breach.opened_at,
        "breach_state": breach and breach.state,
        "breach_record": contributors[0].record_id if contributors else None,
    }


def _of(scene: Scene, act: str, signal: str) -> Estimate:
    # As in `demo`.
    from monitor.demo.play import estimate

    return estimate([getattr(row, signal) for row in scene.records.get(act, [])])


def _picture(scene: Scene) -> Group:
    states = scene.states()
    headline = Text("hss-monitor demo · ", style="bold").append(_TITLES.get(scene.act, scene.act))
    counts = Text(
        f"{scene.calls} calls · " + " · ".join(f"{n} {state.value}" for state, n in states.items()),
        style="dim",
    )
    grid = Table(box=None, pad_edge=False, header_style="bold")
    titles = ("release", "records", "raw distance", "HSS", "", "entity support", "SHAP instability")
    for column in titles:
        grid.add_column(column)
    for act, rows in scene.records.items():
        hss = [row.hss for row in rows if row.hss is not None]
        mean = fmean(hss) if hss else None
        bar = "█" * round(20 * mean) if mean is not None else ""
        grid.add_row(
            cell(act),
            cell(sum(row.state is RecordState.SCORED for row in rows)),
            cell(_of(scene, act, "raw_distance").mean),
            cell(mean),
            Text(bar, style="red" if (mean or 0) > 0.7 else "green"),
            cell(_of(scene, act, "entity_support").mean),
            cell(_of(scene, act, "shap_instability").mean),
        )
    return Group(headline, counts, grid, *_verdicts(scene.watching))


def _verdicts(watching: Watching) -> list[Text]:
    """Drift and breaches as they stand, and what was found before."""
    lines = []
    for name, finding in watching.drifted.items():
        over = "" if name in watching.drifted_now else " (over)"
        line = Text("drift  ", style="dim" if over else "red").append(cell(name))
        change = "" if finding.effect is None else f" {finding.effect:+.2f}"
        line.append(f"{change} since ").append(cell(finding.since))
        lines.append(line.append(over))
    if watching.breach is not None:
        breach = watching.breach.breach
        line = Text("breach ", style="red" if breach.state == "open" else "dim")
        line.append(cell(breach.threshold)).append(f" {breach.state}, opened ")
        lines.append(line.append(cell(breach.opened_at)))
    return lines


_TITLES = {
    "reference": "act 1: the good release, to calibrate on (models load for half a minute)",
    "good": "act 2: the good release, measured",
    "bad": "act 3: a bad release was rolled out",
    "recovered": "act 4: the good release is back, until drift and breaches are over",
}


def _explain_verdicts(result: dict[str, Any]) -> None:
    if result["drifted"]:
        line = Text("drift of ").append(cell(", ".join(result["drift_signals"])))
        line.append(" since ").append(cell(result["drift_since"]))
        out.print(line.append("; over again" if result["drift_over"] else ""))
    if result["breach"] is not None:
        line = Text("breach ").append(cell(result["breach"])).append(" opened ")
        line.append(cell(result["breach_opened_at"])).append(", now ")
        out.print(line.append(cell(result["breach_state"])))
    else:
        note(
            "no breach was opened: this machine scored too few records in the window of the "
            "thresholds (`hss-monitor thresholds show`); try again with less beside the demo"
        )
    note(
        "a reference of some dozen records and a promise of a quarter of an hour between false "
        "alarms are for a demo: in production it takes 200 records over a whole day"
    )


def _explain(play: Play, result: dict[str, Any]) -> None:
    """The worst record of the bad release: what was reworded, what moved, what was invented."""
    good, bad = (_of(play.scene, act, "hss") for act in ("good", "bad"))
    for act, hss in (("good", good), ("bad", bad)):
        if hss.mean is not None and hss.interval is not None:
            low, high = hss.interval
            support = result[f"entity_support_{act}"]
            line = Text(f"{act:>4} release: mean HSS {hss.mean:.3f} [{low:.3f}, {high:.3f}]")
            line.append(f" over {hss.records} records, entity support ")
            line.append(cell(support)).append(", SHAP instability ")
            line.append(cell(result[f"shap_instability_{act}"])).append(" (noise floor ")
            out.print(line.append(cell(result[f"shap_noise_floor_{act}"])).append(")"))
    if result["hss_shap_correlation_ci"] is not None:
        low, high = result["hss_shap_correlation_ci"]
        r = result["hss_shap_correlation"]
        out.print(f"HSS and SHAP instability: r = {r:.3f} [{low:.3f}, {high:.3f}] over all records")
    _explain_verdicts(result)
    # The record that contributed most to the page, else the one with the highest HSS.
    record = result["breach_record"] or result["worst"]
    if record is None:
        return
    with open_stores(play.settings) as stores:
        detail = record_detail(stores.database, record)
    if detail is None or detail.score is None:
        return
    out.print(Text(f"\nWhy, by the record {detail.row.id}", style="bold"))
    out.print(Text("summary  ").append(cell(detail.summary)))
    moved = max(detail.perturbations, key=lambda run: run.distance or 0.0, default=None)
    if moved is not None:
        words = ", ".join(f"{s.original}→{s.replacement}" for s in moved.substitutions[:5])
        out.print(Text("reworded ").append(cell(f"{words} (share {moved.share:.0%})")))
        out.print(Text("became   ").append(cell(moved.summary)))
        out.print(Text("distance ").append(cell(moved.distance)))
    invented = ", ".join(fact.text for fact in detail.score.unsupported)
    if invented:
        out.print(Text("not in the document: ", style="red").append(cell(invented)))
    out.print(
        Text(
            f"\n{_program()} records show {detail.row.id} "
            f"--config {play.folder / 'hss-monitor.yaml'}",
            style="dim",
        )
    )
