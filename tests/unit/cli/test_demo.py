"""What the demo says while nothing can be drawn over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from monitor.cli import demo as command
from monitor.cli.demo_result import result_of
from monitor.demo.play import Scene
from monitor.records import RecordState

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_each_act_is_told_once_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Minutes of silence look like something that hangs."""
    live = Live(console=Console(file=StringIO(), force_terminal=False), auto_refresh=False)
    show = command._audience(live)
    for act in ("starting", "reference", "reference", "bad"):
        show(Scene(act=act))
    assert capsys.readouterr().err.splitlines() == [
        "act 1: the good release, to calibrate on (models load for half a minute)",
        "act 3: a bad release was rolled out",
    ]


@pytest.mark.parametrize("width", [72, 80, 120])
def test_bars_are_in_proportion_at_any_width(width: int) -> None:
    """Bars that are cut at the same place say that all is equal; a cut title says half."""
    rows = {
        act: [SimpleNamespace(hss=hss, state=RecordState.SCORED, raw_distance=0.1,
                              entity_support=0.5, shap_instability=0.2)]
        for act, hss in (("good", 0.25), ("bad", 1.0))
    }  # fmt: skip
    screen = StringIO()
    console = Console(
        file=screen, width=width, force_terminal=True, color_system=None, soft_wrap=True
    )
    console.print(command._picture(Scene(act="recovered", records=rows)))  # type: ignore[arg-type]
    printed = screen.getvalue()
    lengths = [line.count("█") for line in printed.splitlines() if "█" in line]
    assert lengths[0] / lengths[1] == pytest.approx(0.25, abs=0.1)
    assert max(map(len, printed.splitlines())) <= width
    assert "until drift and breaches are over" in " ".join(printed.split())


def test_every_breach_is_told_from_when_to_when() -> None:
    """Not only the one whose record is shown."""
    opened = SimpleNamespace(threshold="hss_mean", opened_at=AT, resolved_at=None, state="open")
    over = SimpleNamespace(**vars(opened) | {"resolved_at": AT + timedelta(minutes=2)})
    assert [command.breach_line(each).plain for each in (opened, over)] == [
        "breach hss_mean opened 2026-01-01 00:00:00, now open",
        "breach hss_mean opened 2026-01-01 00:00:00, resolved 2026-01-01 00:02:00",
    ]


def test_what_was_not_measured_is_not_told_as_0() -> None:
    """Where nothing was scored a record has no cost, and the releases have no means."""
    play: Any = SimpleNamespace(
        scene=Scene(),
        counted=lambda: {"hss_score_core_seconds_total": 0.0},
        settings=SimpleNamespace(database=SimpleNamespace(url="sqlite:///hss.db")),
    )
    result = result_of(play, seconds=1.0)
    unknown = ("core_seconds_per_record", "hss_mean_good", "hss_ci_bad", "worst", "drift_since")
    assert [result[name] for name in unknown] == [None] * 5
    assert (result["scored"], result["drifted"], result["breach"]) == (0, False, None)
