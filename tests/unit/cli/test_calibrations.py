"""Stored calibrations: which one is active, how they differ, and what makes one doubtful."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from monitor.findings import StoredReference
from monitor.recalibrating import Recalibration
from monitor.records import (
    Calibration,
    Normalizer,
    Perturbation,
    PerturbationScore,
    Strength,
    Summary,
    Transport,
)
from monitor.stores import now


@pytest.fixture
def add(stores: Any, made: Any) -> Any:
    """Stores a calibration, so many days after the first; active from then on."""

    def add(name: str, *, days: int = 0, value: float = 0.4, **fields: Any) -> None:
        values: dict[str, Any] = {
            "id": name,
            "fingerprint": "fp",
            "settings": {"k": 10},
            "created_at": made.AT + timedelta(days=days),
            "window": f"week {days}",
            "since": None,
            "until": None,
            "provisional": False,
            "normalizers": (
                Normalizer(
                    category=None,
                    value=value,
                    low=value - 0.1,
                    high=value + 0.1,
                    documents=40,
                    distances=320,
                ),
            ),
            "warnings": (),
        }
        stores.calibrations.add(Calibration(**(values | fields)), activate=True)

    return add


def _active(cli: Any) -> list[str]:
    return [row["id"] for row in cli("calibrations", "list", "--json").objects if row["active"]]


@pytest.mark.parametrize(
    ("options", "applied"),
    [
        ([], True),
        (["--no-apply"], False),
        (["--no-activate"], False),
        (["--no-activate", "--apply"], True),
    ],
)
def test_what_waits_to_be_approved_changes_no_score(
    cli: Any, add: Any, stores: Any, monkeypatch: Any, options: list[str], applied: bool
) -> None:
    """People and detectors go on seeing HSS of the calibration that is active."""
    add("made")
    [(made, _)] = stores.calibrations.all()
    asked: dict[str, Any] = {}

    def recalibrate(*_: Any, **given: Any) -> Recalibration:
        asked.update(given)
        return Recalibration(calibration=made, references=(), renormalized=0)

    monkeypatch.setattr("monitor.recalibrating.recalibrate", recalibrate)
    assert cli("calibrate", *options).code == 0
    assert (asked["activate"], asked["apply"]) == ("--no-activate" not in options, applied)


def test_activating_may_give_stored_scores_its_normalizer(
    cli: Any, add: Any, made: Any, stores: Any, monkeypatch: Any
) -> None:
    """After it was approved, in the same breath; not without being asked."""
    add("a", since=made.AT)
    found: list[Any] = []

    def renormalize(_: Any, calibration: Any, window: Any, *, kept: bool) -> int:
        found.append((calibration.id, window.since, kept))
        return 7

    monkeypatch.setattr("monitor.calibrating.renormalize", renormalize)
    [row] = cli("calibrations", "activate", "a", "--json").objects
    assert (row["renormalized"], found) == (0, [])
    [row] = cli("calibrations", "activate", "a", "--apply", "--json").objects
    assert (row["renormalized"], found) == (7, [("a", made.AT, False)])


def test_activating_tells_whom_it_leaves_without_a_reference(
    cli: Any, add: Any, stores: Any, made: Any
) -> None:
    """Drift of a series without a reference is never found, and nothing else would say so."""
    add("one service")
    add("all", days=1, release="2026.11")
    stores.drift.save_references(
        [
            StoredReference(
                calibration_id="all",
                series=made.SERIES,
                signal="hss",
                fitted={},
                reason=None,
                detail="",
                warning=None,
                records=300,
                since=None,
                until=None,
            )
        ]
    )
    for command in (["activate", "one service"], ["rollback"]):
        cli("calibrations", "activate", "all")
        result = cli("calibrations", *command)
        assert result.code == 0
        assert "warning: " in result.err
        assert "it has no reference in this calibration" in result.err
    assert "warning" not in cli("calibrations", "activate", "all").err
    shown = cli("calibrations", "list").out
    assert "week 1 (release 2026.11)" in shown
    assert [row["release"] for row in cli("calibrations", "list", "--json").objects] == [
        "2026.11",
        None,
    ]


def test_a_rollback_activates_the_one_before(cli: Any, add: Any) -> None:
    """Twice goes back two; the scores keep what they have."""
    for days, name in enumerate(("a", "b", "c")):
        add(name, days=days)
    result = cli("calibrations", "rollback")
    assert (result.code, result.out) == (0, "")
    assert "b is active again, c no longer" in result.err
    assert _active(cli) == ["b"]
    [row] = cli("calibrations", "rollback", "--json").objects
    assert (row["id"], row["before"], row["active"]) == ("a", "b", True)
    assert _active(cli) == ["a"]


@pytest.mark.parametrize(
    ("names", "options", "word"),
    [
        ([], [], "no calibration of your own"),
        (["a"], [], "first of its fingerprint"),
        (["a", "b"], ["--fingerprint", "other"], "no calibration of your own"),
    ],
)
def test_where_there_is_no_way_back_nothing_changes(
    cli: Any, add: Any, names: list[str], options: list[str], word: str
) -> None:
    """The message says why."""
    for days, name in enumerate(names):
        add(name, days=days)
    before = _active(cli)
    result = cli("calibrations", "rollback", *options)
    assert (result.code, result.out) == (2, "")
    assert word in result.err
    assert _active(cli) == before


def test_of_several_fingerprints_one_has_to_be_named(cli: Any, add: Any) -> None:
    """Each has an active calibration of its own."""
    for days, (name, mark) in enumerate((("a", "aaaa"), ("b", "bbbb"), ("c", "bbbb"))):
        add(name, days=days, fingerprint=mark)
    assert "--fingerprint" in cli("calibrations", "rollback").err
    assert cli("calibrations", "rollback", "--fingerprint", "bb").code == 0
    assert sorted(_active(cli)) == ["a", "b"]


def test_a_comparison_shows_both_intervals(cli: Any, add: Any) -> None:
    """A ratio alone would not tell a change from noise."""
    add("a")
    add("b", days=1, value=0.8)
    printed = cli("calibrations", "compare", "a", "b").out
    assert "0.400 [0.300, 0.500]" in printed
    assert "0.800 [0.700, 0.900]" in printed
    [row] = cli("calibrations", "compare", "a", "b", "--json").objects
    assert (row["first_low"], row["second_high"]) == pytest.approx((0.3, 0.9))
    assert row["ratio"] == 2.0


def test_doubts_are_listed(cli: Any, add: Any, stores: Any, made: Any) -> None:
    """Its own warnings, and references whose halves differ: also before two are compared."""
    add("a", warnings=("all categories: the mean distance went from 0.1 to 0.3",))
    add("b", days=1)
    stores.drift.save_references(
        [
            StoredReference(
                calibration_id="b",
                series=made.SERIES,
                signal=signal,
                fitted={},
                reason=None,
                detail="",
                warning=warning,
                records=200,
                since=made.AT,
                until=made.AT,
            )
            for signal, warning in (("hss", "halves differ"), ("excess", None))
        ]
    )
    listed = cli("calibrations", "list")
    assert "a: all categories: the mean distance went" in listed.err
    assert "b: news · gemma · politics: the halves of the reference differ in hss" in listed.err
    rows = {row["id"]: row["warnings"] for row in cli("calibrations", "list", "--json").objects}
    assert (len(rows["a"]), len(rows["b"])) == (1, 1)
    assert "halves" in cli("calibrations", "compare", "a", "b").err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "holds scores of several settings: aaaa-1 (1 records), aaaa-2 (1 records)"),
        (["--fingerprint", "aaaa"], "'aaaa' matches 2 settings"),
        (["--fingerprint", "zzzz"], "'zzzz' matches 0 settings"),
    ],
)
def test_distances_of_several_settings_make_no_calibration(
    cli: Any, stores: Any, made: Any, options: list[str], told: str
) -> None:
    """They were measured by other means; which are meant has to be said without doubt."""
    stores.queue.accept([made.waiting(name, now()) for name in ("a", "b")])
    for number, leased in enumerate(stores.queue.lease("test", count=2, seconds=60), 1):
        result = made.scored(
            leased.record.id, None, fingerprint=f"aaaa-{number}", perturbations=(_measured(),)
        )
        stores.queue.finish(leased.lease, result)
    result = cli("calibrate", *options)
    assert (result.code, result.out) == (2, "")
    assert told in " ".join(result.err.split())


def _measured() -> PerturbationScore:
    one = np.ones((1, 1))
    return PerturbationScore(
        perturbation=Perturbation(
            strength=Strength.LOW,
            share=0.05,
            reached=True,
            substitutions=(),
            document="v",
            min_cosine=0.9,
        ),
        summary=Summary(text="s"),
        transport=Transport(distance=0.2, plan=one, cost=one, source=("s",), target=("s",)),
    )
