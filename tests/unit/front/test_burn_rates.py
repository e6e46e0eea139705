"""Counters behind burn-rate alerts: weighted, levelled, and silent where nothing is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry

from monitor.burn_rates import BurnRates
from monitor.findings import Series
from monitor.labels import LabelPolicy
from monitor.records import FinishedRecord
from monitor.settings import Threshold
from monitor.telemetry import Telemetry

MakeFinished = Callable[..., FinishedRecord]


def _threshold(**fields: object) -> Threshold:
    values: dict[str, object] = {
        "name": "high",
        "signal": "hss",
        "statistic": "share_above",
        "level": {"value": 0.9},
        "limit": {"value": 0.25},
    }
    return Threshold(**{**values, **fields})  # type: ignore[arg-type]


@pytest.fixture
def counted():
    """(weight, weight above the level) after some rows; `None` for a counter without series."""

    def count(*rows: FinishedRecord, known: float | None = None, **fields: object):
        registry = CollectorRegistry()
        labels = LabelPolicy(services=["news"], models=["m1"], categories=["law"])

        def level_of(threshold: str, series: Series) -> float | None:
            assert (threshold, series.category) == ("high", "law")
            return known

        rates = BurnRates(Telemetry(registry, labels), [_threshold(**fields)], level_of=level_of)
        for row in rows:
            rates.count(row)
        stratum = {"threshold": "high", "service": "news", "model": "m1", "category": "law"}
        return tuple(
            registry.get_sample_value(f"hss_threshold_{name}_total", stratum)
            for name in ("weight", "exceeded_weight")
        )

    return count


def test_a_record_counts_for_those_it_stands_for(counted, finished: MakeFinished) -> None:
    """π = 0.1 is ten records, so the ratio is the share of the traffic, not of the sample."""
    assert counted(finished(probability=0.1), finished(hss=0.2)) == (pytest.approx(11.0), 10.0)


def test_both_counters_begin_together(counted, finished: MakeFinished) -> None:
    """A ratio over a counter that does not exist yet is no share of zero, but nothing."""
    assert counted(finished(hss=0.2)) == (1.0, 0.0)


def test_exactly_at_the_level_is_not_above_it(counted, finished: MakeFinished) -> None:
    """As in the threshold's own statistic."""
    assert counted(finished(hss=0.9)) == (1.0, 0.0)


def test_explained_records_stand_for_those_left_out_by_the_policy_too(
    counted, finished: MakeFinished
) -> None:
    """1/(π · p) = 1/(0.5 · 0.1) = 20."""
    row = finished(shap_instability=0.95, probability=0.5, attribution_probability=0.1)
    assert counted(row, signal="shap_instability") == (pytest.approx(20.0), pytest.approx(20.0))
    assert counted(finished(), signal="shap_instability") == (None, None)


def test_without_the_signal_nothing_is_counted(counted, finished: MakeFinished) -> None:
    """An uncalibrated record is neither good nor bad."""
    assert counted(finished(hss=None), finished(state="skipped")) == (None, None)


def test_skipped_records_are_the_bad_ones_of_their_own_signal(
    counted, finished: MakeFinished
) -> None:
    """Every final record has it."""
    rows = (finished(), finished(state="skipped", hss=None), finished(state="failed", hss=None))
    assert counted(*rows, signal="skipped", level={"value": 0.5}) == (3.0, 2.0)


def test_an_unknown_level_counts_neither_way(counted, finished: MakeFinished) -> None:
    """Until the evaluator has read the reference; its number is used from then on."""
    quantile = {"reference_quantile": 0.9}
    assert counted(finished(), level=quantile) == (None, None)
    assert counted(finished(), level=quantile, known=0.8) == (1.0, 1.0)


def test_only_the_series_that_a_threshold_watches_are_counted(
    counted, finished: MakeFinished
) -> None:
    """Its alert would otherwise burn the budget of others."""
    assert counted(finished(), services=("sport",)) == (None, None)
