"""The comparison of detectors: its bookkeeping, and the quick form of what it promises."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy import stats

from monitor.drift import simulate as simulation
from monitor.drift.fitting import fit_reference
from monitor.drift.rivals import ks_p, psi_value, rivals
from monitor.drift.scenarios import REFERENCE, SCENARIOS
from monitor.drift.simulate import SimulationRow, first_crossings, outpaced, simulate
from monitor.drift.watch import follow, start

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@pytest.fixture(scope="module")
def own() -> dict[str, SimulationRow]:
    """40 streams a scenario instead of 400."""
    rows = simulate(seed=5, streams=40, detectors={"edetector"})
    return {row.scenario: row for row in rows}


@pytest.mark.parametrize("name", ["stable", "cycle", "sparse_stable"])
def test_nothing_alarms_where_nothing_changes(own, name: str) -> None:
    """Limits from 500 fresh records each; at most 2 of 40 (5 %)."""
    assert own[name].false_alarm_share <= 0.05
    assert own[name].delay_median is None
    assert own[name].missed_share is None


@pytest.mark.parametrize(
    ("name", "median"), [("shift", 60), ("cycle_shift", 85), ("slow", 800), ("sparse", 65)]
)
def test_changes_are_found_in_time(own, name: str, median: float) -> None:
    """The full form, with 400 streams and three seeds, is a benchmark."""
    assert own[name].delay_median <= median
    assert own[name].missed_share == 0


def test_only_the_spread_detector_sees_a_change_of_spread() -> None:
    """The mean stays where it was, so the level detector has to miss it."""
    rows = simulate(
        seed=5,
        streams=20,
        scenarios=[BY_NAME["spread"]],
        detectors={"edetector_level", "edetector_spread"},
    )
    missed = {row.detector: row.missed_share for row in rows}
    assert missed["edetector_level"] > 0.9
    assert missed["edetector_spread"] == 0


def test_the_vectorized_detector_is_the_one_that_runs_in_production() -> None:
    """The table speaks about `watch.follow`, so both have to alarm at the same record."""
    data = BY_NAME["shift"].streams(3, seed=1)
    crossed = first_crossings(data, threshold=10_000.0)
    for values, times, alarms in zip(data.values, data.times, crossed, strict=True):
        reference = fit_reference(values[:REFERENCE], times[:REFERENCE], id="r")
        seen = reference.observe(values[REFERENCE:], times[REFERENCE:])
        first = int(min(alarm for alarm in alarms if alarm >= 0))
        watch = start("r")
        for index in range(first + 1):
            part = slice(index, index + 1)
            one = type(seen)(
                times=seen.times[part],
                values=seen.values[:, part],
                limits=seen.limits[:, part],
                stakes=seen.stakes[:, part],
            )
            watch = follow(watch, one, reference_id="r", threshold=10_000.0)
            assert (watch.alarm is not None) is (index == first)


def test_rows_are_reproducible_and_have_the_promised_fields() -> None:
    """The same seed, the same table; its columns are what `--json` prints."""
    options = {"streams": 5, "scenarios": [BY_NAME["shift"]], "detectors": {"edetector", "ks"}}
    assert list(simulate(seed=3, **options)) == list(simulate(seed=3, **options))
    assert [field.name for field in fields(SimulationRow)] == [
        "detector",
        "scenario",
        "streams",
        "records",
        "false_alarm_share",
        "delay_median",
        "delay_p95",
        "missed_share",
    ]


def test_every_promised_kind_of_traffic_is_there() -> None:
    """Names begin with what the acceptance asks for."""
    for kind in ("stable", "shift", "cycle", "cycle_shift", "slow", "spread", "sparse"):
        assert any(name.startswith(kind) for name in BY_NAME)


def test_every_rival_gives_a_row_and_slow_ones_say_on_how_few_streams() -> None:
    """river with default and tuned settings, PSI and KS."""
    rows = list(simulate(seed=1, streams=4, slow_streams=1, scenarios=[BY_NAME["sparse"]]))
    streams = {row.detector: row.streams for row in rows}
    names = {rival.name for rival in rivals()}
    assert names >= {"adwin", "kswin", "page_hinkley", "psi", "ks"}
    assert {f"{name}_tuned" for name in ("adwin", "kswin", "page_hinkley")} <= names
    assert streams == {
        **dict.fromkeys(simulation.OWN, 4),
        **{rival.name: 1 if rival.slow else 4 for rival in rivals()},
    }


def test_alarms_before_the_change_are_false_and_count_for_no_delay() -> None:
    """By hand: change at 1,100; alarms at 50, at 1,100, at 1,109, never."""
    row = simulation._row("x", BY_NAME["shift"], np.array([50, 1100, 1109, -1]))
    assert row.false_alarm_share == 0.25
    assert row.delay_median == pytest.approx((1 + 10) / 2)
    assert row.missed_share == pytest.approx(1 / 3)


def test_a_rival_wins_only_when_quick_and_quiet() -> None:
    """A detector that cries wolf, or sleeps through, has not won by being quick."""

    def row(detector: str, false: float, delay: float, missed: float = 0.0) -> SimulationRow:
        return SimulationRow(
            detector=detector,
            scenario="shift",
            streams=100,
            records=3000,
            false_alarm_share=false,
            delay_median=delay,
            delay_p95=delay,
            missed_share=missed,
        )

    rows = [
        row("edetector", 0.0, 50),
        row("quick", 0.01, 40),
        row("loud", 0.4, 10),
        row("sleepy", 0.0, 45, 0.9),
        row("slow", 0.0, 60),
    ]
    assert [winner.detector for winner in outpaced(rows)] == ["quick"]


def test_the_textbook_ks_is_scipys() -> None:
    """The comparison has to be fair to it."""
    rng = np.random.default_rng(1)
    before, now = rng.beta(2, 8, 500), rng.beta(2, 7, 200)
    statistic = stats.ks_2samp(before, now).statistic
    expected = stats.kstwobign.sf(statistic * (500 * 200 / 700) ** 0.5)
    assert ks_p(before, now) == pytest.approx(expected)


def test_psi_of_equal_samples_is_zero() -> None:
    """And grows with a shift."""
    values = np.random.default_rng(1).beta(2, 8, 500)
    assert psi_value(values, values) == pytest.approx(0.0, abs=1e-9)
    assert psi_value(values, values + 0.1) > 0.25
