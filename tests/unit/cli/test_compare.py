"""Two records, and two groups of them, against each other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from monitor.storage.comparison import record_group
from monitor.stores import now

HOUR = timedelta(hours=1)


@pytest.fixture
def traffic(stores: Any, made: Any) -> None:
    """Two models within the last three hours; the second is worse, and sampled at 1/2."""
    rng = np.random.default_rng(1)
    for model, mean, probability in (("gemma", 0.3, 1.0), ("bart", 0.6, 0.5)):
        values = np.clip(mean + 0.1 * rng.standard_normal(60), 0, 1).tolist()
        made.save_scores(
            stores,
            values,
            since=now() - 3 * HOUR,
            prefix=f"{model}-",
            model=model,
            release=f"{model}-1.0",
            probability=probability,
        )


def test_two_models_are_compared_with_interval_and_test(cli: Any, traffic: Any) -> None:
    """The difference is there, and what the level of the test is."""
    result = cli("records", "compare", "--model", "gemma", "--model", "bart", "--since", "24h")
    assert result.code == 0
    header, hss = result.out.splitlines()[:2]
    assert header.split()[:3] == ["signal", "gemma", "bart"]
    assert hss.startswith("hss")
    assert "n=60" in hss
    assert "< 0.001" in hss
    assert "below 5 % in 4.5 to 6.2 %" in result.err
    assert "releases gemma-1.0 (60)" in result.err


def test_an_interval_holds_no_mean_that_cannot_be(cli: Any, stores: Any, made: Any) -> None:
    """A few records near 1 have a wide margin, but no HSS is above 1."""
    for model, values in (("gemma", [1.0, 0.5, 1.0]), ("bart", [0.0, 0.6, 0.0])):
        since = now() - timedelta(hours=3)
        made.save_scores(stores, values, since=since, prefix=f"{model}-", model=model)
    arguments = ("--model", "gemma", "--model", "bart", "--signal", "hss", "--json")
    [hss] = cli("records", "compare", *arguments).objects
    first, second = hss["first"]["mean"], hss["second"]["mean"]
    assert (first["low"] < 0.5, first["high"]) == (True, 1.0)
    assert (second["low"], second["high"] > 0.5) == (0.0, True)


def test_nor_a_difference_that_cannot_be(cli: Any, stores: Any, made: Any) -> None:
    """Of two means from 0 to 1 none lies further than 1 from the other."""
    for model, values in (("gemma", [1.0] * 9 + [0.5]), ("bart", [0.0] * 9 + [0.5])):
        since = now() - timedelta(hours=3)
        made.save_scores(stores, values, since=since, prefix=f"{model}-", model=model)
    arguments = ("--model", "gemma", "--model", "bart", "--signal", "hss", "--json")
    [hss] = cli("records", "compare", *arguments).objects
    assert (hss["difference"], hss["low"]) == (pytest.approx(-0.9), -1.0)
    assert hss["high"] > -0.9


def test_json_has_both_means_and_the_difference(cli: Any, traffic: Any) -> None:
    """Second minus first; what has no spread has no p, and says so."""
    arguments = ("--model", "gemma", "--model", "bart", "--signal", "hss", "--signal")
    rows = cli("records", "compare", *arguments, "raw_distance", "--json").objects
    hss, raw = rows
    assert hss["signal"] == "hss"
    assert hss["first"]["mean"]["value"] == pytest.approx(0.3, abs=0.05)
    assert hss["low"] < 0.3 < hss["high"]
    assert hss["difference"] == pytest.approx(
        hss["second"]["mean"]["value"] - hss["first"]["mean"]["value"]
    )
    assert hss["p"] < 1e-6
    assert hss["adjusted_p"] == hss["p"], "the only one that could be tested"
    assert (raw["p"], raw["reason"]) == (None, "no_spread")


def test_p_values_are_corrected_over_the_signals_that_were_tested(
    cli: Any, stores: Any, made: Any
) -> None:
    """Holm by hand: the smaller of two counts twice, the larger is never below it."""
    rng = np.random.default_rng(2)
    for model in ("gemma", "bart"):
        for number in range(20):
            waiting = made.waiting(f"{model}-{number}", now(), model=model)
            stores.queue.accept([waiting])
            [leased] = stores.queue.lease("test", count=1, seconds=60)
            hss, raw = rng.uniform(0.2, 0.4, 2).tolist()
            stores.queue.finish(leased.lease, made.scored(leased.record.id, hss, raw_distance=raw))
    arguments = ("--model", "gemma", "--model", "bart", "--signal", "hss", "--signal")
    rows = cli("records", "compare", *arguments, "raw_distance", "--json").objects
    less, more = sorted(rows, key=lambda row: row["p"])
    assert less["adjusted_p"] == pytest.approx(min(1.0, 2 * less["p"]))
    assert more["adjusted_p"] == pytest.approx(max(more["p"], less["adjusted_p"]))


def test_a_group_that_is_too_large_is_said_to_be_cut(
    cli: Any, traffic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest count: a mean of less than was asked for must not pass for all of it."""
    monkeypatch.setattr(
        "monitor.comparing.record_group",
        lambda database, wanted, *, signals: record_group(
            database, wanted, signals=signals, limit=50
        ),
    )
    result = cli("records", "compare", "--model", "gemma", "--model", "bart")
    assert "only the newest 50 of a group count" in result.err


def test_two_windows_and_two_releases_are_compared(cli: Any, traffic: Any, stores: Any) -> None:
    """The first half hour of one model against the second."""
    windows = ("--window", "4h..9030s", "--window", "9030s..")
    [hss] = cli(
        "records", "compare", *windows, "--model", "gemma", "--signal", "hss", "--json"
    ).objects
    assert [hss[side]["of"] for side in ("first", "second")] == [30, 30]
    assert hss["first"]["name"] == "4h..9030s"
    releases = ("--release", "gemma-1.0", "--release", "bart-1.0")
    [hss] = cli("records", "compare", *releases, "--signal", "hss", "--json").objects
    assert hss["difference"] == pytest.approx(0.3, abs=0.06)


def test_an_empty_group_is_said_so(cli: Any, traffic: Any) -> None:
    """A typo in a model's name must not read as "no difference"."""
    result = cli("records", "compare", "--model", "gemma", "--model", "brat", "--json")
    assert result.code == 0
    assert {row["reason"] for row in result.objects} == {"no_records"}
    assert "brat: no scored record" in result.err


def test_scores_of_different_settings_are_said_not_to_compare(
    cli: Any, traffic: Any, stores: Any, made: Any
) -> None:
    """Another encoder measures other distances."""
    stores.queue.accept([made.waiting("x", now(), model="bart")])
    [leased] = stores.queue.lease("test", count=1, seconds=60)
    stores.queue.finish(
        leased.lease, made.scored("x", 0.5, fingerprint="other", calibration_id="cal-2")
    )
    result = cli("records", "compare", "--model", "gemma", "--model", "bart")
    assert "several settings" in result.err
    assert "several calibrations" in result.err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "exactly one"),
        (["a"], "two records"),
        (["a", "b", "--model", "x"], "two records"),
        (["--model", "x"], "exactly one"),
        (["--model", "x", "--model", "y", "--release", "1", "--release", "2"], "exactly one"),
        (["--model", "x", "--model", "y", "--model", "z"], "exactly one"),
        (["--model", "x", "--model", "x"], "stands twice"),
        (["--model", "x", "--model", "y", "--signal", "mood"], "'hss'"),
        (["--window", "2h..1h", "--window", "1h..", "--since", "3h"], "--window"),
        (["--window", "2h", "--window", "1h.."], "--window"),
        (["a", "b"], "records list"),
    ],
)
def test_what_cannot_be_compared_is_refused(cli: Any, arguments: list[str], word: str) -> None:
    """With what would be right."""
    result = cli("records", "compare", *arguments)
    assert (result.code, result.out) == (2, "")
    assert word in result.err


def test_two_records_stand_side_by_side(cli: Any, traffic: Any) -> None:
    """HSS, null control, support; a warning where the documents are the same."""
    result = cli("records", "compare", "gemma-0000", "bart-0000")
    assert result.code == 0
    rows = {line.split("  ")[0].strip(): line for line in result.out.splitlines()}
    assert rows["model"].split() == ["model", "gemma", "bart"]
    assert rows["null distance"].split() == ["null", "distance", "0.050", "0.050"]
    assert rows["entity support"].split() == ["entity", "support", "0.500", "0.500"]
    assert "same document" in result.err
    [pair] = cli("records", "compare", "gemma-0000", "bart-0000", "--json").objects
    assert pair["first"]["id"] == "gemma-0000"
    assert pair["second"]["null_distance"] == 0.05
    assert pair["warnings"] == ["both summarize the same document"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"fingerprint": "other"}, "scored under different settings"),
        ({"calibration_id": "cal-2"}, "normalized by different calibrations"),
    ],
)
def test_two_records_that_do_not_compare_are_said_not_to(
    cli: Any, stores: Any, made: Any, fields: dict[str, str], told: str
) -> None:
    """Two numbers side by side ask to be compared."""
    stores.queue.accept([made.waiting("a", now()), made.waiting("b", now())])
    for leased, more in zip(
        stores.queue.lease("t", count=2, seconds=60), ({}, fields), strict=True
    ):
        stores.queue.finish(leased.lease, made.scored(leased.record.id, 0.5, **more))
    assert told in " ".join(cli("records", "compare", "a", "b").err.split())
