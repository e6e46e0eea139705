"""What came of the demo: as one JSON object and for a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from rich.text import Text

from monitor.cli.output import cell, interval, note, out
from monitor.cli.record_words import swaps_of, unsupported_of
from monitor.demo.correlation import correlation
from monitor.findings import BreachRow
from monitor.records import RecordState
from monitor.storage.detail import RecordDetail, record_detail
from monitor.storage.detail_parts import StoredScore
from monitor.stores import open_stores

if TYPE_CHECKING:
    from monitor.demo.play import Play
    from monitor.demo.watching import Watching


def result_of(play: Play, *, seconds: float) -> dict[str, Any]:
    """What `demo --json` prints: keys and order are part of the interface."""
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
        hss = scene.estimate(act, "hss")
        result[f"hss_mean_{act}"] = hss.mean
        result[f"hss_ci_{act}"] = hss.interval
    for act in ("good", "bad"):
        result[f"entity_support_{act}"] = scene.estimate(act, "entity_support").mean
        result[f"number_support_{act}"] = scene.estimate(act, "number_support").mean
    for name in ("shap_instability", "shap_noise_floor"):
        for act in ("good", "bad"):
            result[f"{name}_{act}"] = scene.estimate(act, name).mean
    r, bounds = correlation([(row.hss, row.shap_instability) for row in scored])
    result |= {"hss_shap_correlation": r, "hss_shap_correlation_ci": bounds}
    core = counted.get("hss_score_core_seconds_total")
    worst = max(scene.records.get("bad", []), key=lambda row: row.hss or 0.0, default=None)
    result |= {
        "calibration": scene.calibration,
        "core_seconds_per_record": None if core is None or not scored else core / len(scored),
        "seconds": seconds,
        "worst": worst and worst.id,
        "database": play.settings.database.url,
    }
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


def print_result(play: Play, result: dict[str, Any]) -> None:
    """Both releases, what the evaluator said, and the worst record of the bad release."""
    _print_releases(play, result)
    _print_verdicts(result, play.scene.watching)
    # The record that contributed most to the page, else the one with the highest HSS.
    record = result["breach_record"] or result["worst"]
    if record is None:
        return
    with open_stores(play.settings) as stores:
        detail = record_detail(stores.database, record)
    if detail is not None and detail.score is not None:
        _print_record(detail, detail.score, config=play.folder / "hss-monitor.yaml")


def _print_releases(play: Play, result: dict[str, Any]) -> None:
    for act in ("good", "bad"):
        hss = play.scene.estimate(act, "hss")
        if hss.mean is not None and hss.interval is not None:
            line = Text(f"{act:>4} release: mean HSS {interval(hss.mean, *hss.interval)}")
            line.append(f" over {hss.records} records, entity support ")
            line.append(cell(result[f"entity_support_{act}"])).append(", SHAP instability ")
            line.append(cell(result[f"shap_instability_{act}"])).append(" (noise floor ")
            out.print(line.append(cell(result[f"shap_noise_floor_{act}"])).append(")"))
    if result["hss_shap_correlation_ci"] is not None:
        r = interval(result["hss_shap_correlation"], *result["hss_shap_correlation_ci"])
        out.print(f"HSS and SHAP instability: r = {r} over all records")


def _print_verdicts(result: dict[str, Any], watching: Watching) -> None:
    if result["drifted"]:
        line = Text("drift of ").append(cell(", ".join(result["drift_signals"])))
        line.append(" since ").append(cell(result["drift_since"]))
        out.print(line.append(" and is over" if result["drift_over"] else ""))
    for breach in watching.breaches:
        out.print(breach_line(breach))
    if not watching.breaches:
        note(
            "no breach was opened: this machine scored too few records in the window of the "
            "thresholds (`hss-monitor thresholds show`); try again with less beside the demo"
        )
    note(
        "a reference of some dozen records and a promise of a quarter of an hour between false "
        "alarms are for a demo: in production it takes 200 records over a whole day"
    )


def breach_line(breach: BreachRow) -> Text:
    """Which breach, from when to when."""
    line = Text("breach ").append(cell(breach.threshold)).append(" opened ")
    line.append(cell(breach.opened_at))
    if breach.resolved_at is None:
        return line.append(f", now {breach.state}")
    return line.append(", resolved ").append(cell(breach.resolved_at))


def _print_record(detail: RecordDetail, score: StoredScore, *, config: Path) -> None:
    """What was reworded, what moved, what was invented."""
    out.print(Text(f"\nWhy, by the record {detail.row.id}", style="bold"))
    out.print(Text("summary  ").append(cell(detail.summary)))
    moved = max(detail.perturbations, key=lambda run: run.distance or 0.0, default=None)
    if moved is not None:
        words = swaps_of(moved.substitutions, most=5)
        out.print(Text("reworded ").append(cell(f"{words} (share {moved.share:.0%})")))
        out.print(Text("became   ").append(cell(moved.summary)))
        out.print(Text("distance ").append(cell(moved.distance)))
    invented = unsupported_of(score.unsupported)
    if invented is not None:
        out.print(Text("not in the document: ", style="red").append(cell(invented)))
    command = f"{_program()} records show {detail.row.id} --config {config}"
    out.print(Text(f"\n{command}", style="dim"))


def _program() -> str:
    """What to type: `deploy/demo.sh` leaves its virtual environment off the path."""
    return "hss-monitor" if which("hss-monitor") else sys.argv[0]
