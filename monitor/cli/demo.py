"""`hss-monitor demo`: the whole product on one machine, from nothing to an explained record."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGTERM, signal
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer
from rich.bar import Bar
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from monitor import logs
from monitor.cli.demo_result import breach_line, print_result, result_of
from monitor.cli.options import Json
from monitor.cli.output import cell, emit, err, note
from monitor.demo.processes import require_free
from monitor.records import RecordState
from monitor.settings.traffic import Http

if TYPE_CHECKING:
    from monitor.demo.play import Scene
    from monitor.demo.watching import Watching

PORT = Http().port
BAR = 20
"""Columns of the terminal for an HSS of 1, where there is room."""
_COLUMNS = (
    *("release", "records", "raw\ndistance", "HSS", ""),
    *("entity\nsupport", "SHAP\ninstability"),
)


def demo(
    once: Annotated[bool, typer.Option("--once", help="End when the play is over.")] = False,
    port: Annotated[int, typer.Option("--port", help="Port of the sidecar.")] = PORT,
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
            result = result_of(play, seconds=time.monotonic() - started)
            if not json_:
                print_result(play, result)
        except BaseException:
            note("stopping the sidecar and the service; this takes some seconds")
            play.stop()
            raise
    if not err.is_terminal:
        # What is drawn last there ends without one.
        err.line()
    if once:
        play.stop()
    if json_:
        emit(result)
    if once:
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


def _leave(*_: object) -> None:
    raise SystemExit(0)


def _picture(scene: Scene) -> Group:
    states = scene.states()
    # The console that tells of the demo cuts lines; these go on in the next one.
    headline = Text("", no_wrap=False, overflow="fold").append("hss-monitor demo · ", style="bold")
    headline.append(_TITLES.get(scene.act, scene.act))
    counts = Text(
        f"{scene.calls} calls · " + " · ".join(f"{n} {state.value}" for state, n in states.items()),
        style="dim",
        no_wrap=False,
        overflow="fold",
    )
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for title in _COLUMNS:
        grid.add_column(title, no_wrap=bool(title), max_width=None if title else BAR)
    for act, rows in scene.records.items():
        hss = [row.hss for row in rows if row.hss is not None]
        mean = fmean(hss) if hss else None
        grid.add_row(
            cell(act),
            cell(sum(row.state is RecordState.SCORED for row in rows)),
            cell(scene.estimate(act, "raw_distance").mean),
            cell(mean),
            # As wide as the column has become, so that bars stay in proportion.
            Bar(1.0, 0.0, mean or 0.0, color="red" if (mean or 0.0) > 0.7 else "green"),
            cell(scene.estimate(act, "entity_support").mean),
            cell(scene.estimate(act, "shap_instability").mean),
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
    for breach in watching.breaches:
        line = breach_line(breach)
        line.stylize("red" if breach.state == "open" else "dim")
        lines.append(line)
    return lines


_TITLES = {
    "reference": "act 1: the good release, to calibrate on (models load for half a minute)",
    "good": "act 2: the good release, measured",
    "bad": "act 3: a bad release was rolled out",
    "recovered": "act 4: the good release is back, until drift and breaches are over",
}
