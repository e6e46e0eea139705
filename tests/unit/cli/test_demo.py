"""What the demo says while nothing can be drawn over."""

from __future__ import annotations

from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from monitor.cli import demo as command
from monitor.cli.demo_result import result_of
from monitor.demo.play import Scene


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
