"""The demo's own configuration, on records like the demo's: what its audience is promised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from monitor.demo.configuration import EVALUATION_SECONDS, demo_settings
from monitor.demo.play import ACTS
from monitor.settings import Settings

REFERENCE, GOOD, BAD, RECOVERED = ACTS
PACE = 2.0
"""Seconds a record on two cores."""


@pytest.fixture
def settings() -> dict[str, object]:
    values = demo_settings(Path(), port=1, service_port=2, scorers=1)
    Settings(**values)  # refuses what is no configuration
    return {name: values[name] for name in ("evaluation", "drift", "thresholds")}


@pytest.fixture
def play(world, evaluator, settings) -> Callable[..., None]:
    """Records of one release, a turn between them; HSS as the demo measured it."""
    one = evaluator(**settings)
    dice = np.random.default_rng(1)

    def run(calls: int, *, bad: bool) -> None:
        for _ in range(calls):
            hss = 1.0 if bad else float(np.clip(dice.normal(0.59, 0.1), 0, 1))
            world.add([hss], every=PACE)
            for _ in range(max(1, round(PACE / EVALUATION_SECONDS))):
                one.turn()

    return run


def test_the_bad_release_is_found_and_the_good_one_is_left_alone(world, play, settings) -> None:
    """Nothing in act two, drift and a page in act three, an end to both in act four."""
    options = settings["drift"]
    play(REFERENCE.calls, bad=False)
    world.calibrate(
        "hss",
        min_records=options["min_reference_records"],
        cycle_hours=options["cycle_hours"],
    )
    play(GOOD.calls, bad=False)
    assert {change.after for change in world.drift.changed} <= {"stable", "suspect"}
    assert world.breaches.opened == []

    play(BAD.most, bad=True)
    assert world.finding().state == "drifted"
    assert world.finding().direction in {"level_up", "spread_up"}
    assert world.finding().effect == pytest.approx(0.41, abs=0.05)
    page = world.breaches.breaches["hss_mean-1"]
    assert (page.breach.severity, page.breach.state) == ("page", "open")
    assert {contributor.value for contributor in page.contributors} == {1.0}

    play(RECOVERED.most, bad=False)
    assert world.finding().state != "drifted"
    assert world.breaches.breaches["hss_mean-1"].breach.state == "resolved"
