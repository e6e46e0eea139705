"""What the demo says while nothing can be drawn over."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.live import Live

from monitor.cli import demo as command
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
