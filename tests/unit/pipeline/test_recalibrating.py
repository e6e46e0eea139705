"""The order in which a calibration and its references come to be seen."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from monitor import recalibrating
from monitor.calibrating import Window
from monitor.recalibrating import recalibrate
from monitor.records import Calibration
from monitor.settings import Settings

MADE = Calibration(
    id="made",
    fingerprint="f",
    settings={},
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    window="w",
    since=None,
    until=None,
    provisional=False,
    normalizers=(),
)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done, one behind the other."""
    done: list[str] = []

    def renormalize(*_: Any, kept: bool) -> int:
        done.append(f"renormalize, kept={kept}")
        return 7

    monkeypatch.setattr(recalibrating, "calibrate_window", lambda *_, **__: MADE)
    monkeypatch.setattr(recalibrating, "fit_references", lambda *_: ["reference"])
    monkeypatch.setattr(recalibrating, "renormalize", renormalize)
    return done


def _stores(steps: list[str]) -> Any:
    return SimpleNamespace(
        calibrations=SimpleNamespace(
            add=lambda _, *, activate: steps.append(f"add, activate={activate}"),
            activate=lambda name: steps.append(f"activate {name}"),
        ),
        drift=SimpleNamespace(save_references=lambda found: steps.append(f"save {found}")),
    )


def test_an_evaluator_sees_a_calibration_with_all_its_references_or_not_at_all(
    steps: list[str],
) -> None:
    """Active before them it would judge series by none, and scores by two normalizers."""
    found = recalibrate(_stores(steps), Window(name="w"), Settings())
    assert steps == [
        "add, activate=False",
        "save ['reference']",
        "renormalize, kept=True",
        "activate made",
    ]
    assert (found.calibration, found.renormalized) == (MADE, 7)


def test_what_nobody_is_held_to_leaves_the_others_as_they_are(steps: list[str]) -> None:
    """It may wait to be approved; where it is applied all the same, to its own window only."""
    recalibrate(_stores(steps), Window(name="w"), Settings(), activate=False)
    assert steps[2:] == ["renormalize, kept=False"]
    steps.clear()
    found = recalibrate(_stores(steps), Window(name="w"), Settings(), activate=False, apply=False)
    assert (steps[2:], found.renormalized) == ([], 0)
