"""Gauges about drift and thresholds: which series speaks, and what vanishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from monitor.breaches.lifecycle import Breach
from monitor.findings import DriftFinding, DriftTest, Series, ThresholdState
from monitor.gauges.verdicts import drift_samples, threshold_samples
from monitor.labels import LabelPolicy
from monitor.settings import Threshold

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATELY = NOW - timedelta(minutes=5)
LABELS = LabelPolicy(services=["news"], models=["m1"], categories=["law"])
NEWS = Series(service="news", model="m1", category="law")
OTHER = ("other", "other", "other")


def stranger(name: str) -> Series:
    return Series(service=name, model="x", category="y")


def finding(series: Series = NEWS, state: str = "stable", **fields: object) -> DriftFinding:
    values: dict[str, object] = {
        "signal": "hss",
        "calibration_id": "cal-1",
        "reason": None,
        "detail": "",
        "direction": None,
        "since": None,
        "raised_at": None,
        "effect": 0.01,
        "effect_low": None,
        "effect_high": None,
        "deviations": None,
        "reference_mean": 0.2,
        "current_mean": 0.21,
        "evidence": 100.0,
        "threshold": 10_000.0,
        "records": 60,
        "tests": (),
        "evaluated_at": NOW,
    }
    return DriftFinding(series=series, state=state, **{**values, **fields})  # type: ignore[arg-type]


def standing(series: Series = NEWS, state: str = "ok", **fields: object) -> ThresholdState:
    values: dict[str, object] = {
        "threshold": "mean",
        "number": int(state in {"open", "resolved"}),
        "value": 0.4,
        "limit": 0.5,
        "level": None,
        "records": 40,
        "reason": None,
        "evaluated_at": NOW,
        "stored": Breach().stored(),
    }
    return ThresholdState(series=series, state=state, **{**values, **fields})  # type: ignore[arg-type]


MEAN = Threshold(name="mean", signal="hss", limit={"value": 0.5}, severity="page")
SUPPORT = Threshold(name="support", signal="entity_support", comparison="below", limit={"value": 1})


@pytest.fixture
def drifting():
    """Samples by name and labels."""

    def make(*findings: DriftFinding) -> Mapping[tuple[str, ...], float]:
        made = drift_samples(findings, LABELS, since=LATELY, until=NOW)
        assert len({(s.name, s.labels) for s in made}) == len(made), "one value a series"
        return {(sample.name, *sample.labels): sample.value for sample in made}

    return make


@pytest.fixture
def breaching():
    def make(*states: ThresholdState) -> Mapping[tuple[str, ...], float]:
        made = threshold_samples(states, (MEAN, SUPPORT), LABELS, since=LATELY, until=NOW)
        assert len({(s.name, s.labels) for s in made}) == len(made), "one value a series"
        return {(sample.name, *sample.labels): sample.value for sample in made}

    return make


def test_evidence_is_shown_on_the_way_to_an_alarm(drifting) -> None:
    """log 100 / log 10,000 = 1/2."""
    found = drifting(finding())
    assert found["hss_drift_statistic", "edetector", "hss", "news", "m1", "law"] == 0.5
    assert found["hss_drift_detected", "hss", "news", "m1", "law"] == 0


def test_no_evidence_is_zero_and_not_minus_infinity(drifting) -> None:
    """E = 0 before the first record."""
    found = drifting(finding(evidence=0.0))
    assert found["hss_drift_statistic", "edetector", "hss", "news", "m1", "law"] == 0.0


def test_a_statistic_without_p_value_is_left_out(drifting) -> None:
    """Too few records for a test are no statistic of 0."""
    tests = (
        DriftTest(statistic="ks", value=0.3, p=0.01, adjusted_p=0.03, reason=None, detail=""),
        DriftTest(
            statistic="psi", value=None, p=None, adjusted_p=None, reason="too_few", detail=""
        ),
    )
    found = drifting(finding(tests=tests))
    names = {key[:2] for key in found if key[0] in {"hss_drift_statistic", "hss_drift_p_value"}}
    assert names == {
        ("hss_drift_statistic", "ks"),
        ("hss_drift_p_value", "ks"),
        ("hss_drift_statistic", "edetector"),
    }
    assert found["hss_drift_p_value", "ks", "hss", "news", "m1", "law"] == 0.03


def test_what_is_not_known_is_not_detected_and_not_clear(drifting) -> None:
    """An alert on 0 or 1 would take either for an answer."""
    unknown = finding(state="insufficient", effect=None, evidence=None)
    assert drifting(unknown) == {}


def test_the_worst_of_one_label_set_speaks_for_all_gauges(drifting) -> None:
    """Two unnamed services: the drifted one, with its own effect and beginning."""
    calm = finding(stranger("a"), effect=0.9, evidence=9_999.0)
    bad = finding(
        stranger("b"), "drifted", effect=0.2, evidence=10_000.0, since=NOW, direction="level_up"
    )
    for order in ((calm, bad), (bad, calm)):
        found = drifting(*order)
        assert found["hss_drift_detected", "hss", *OTHER] == 1
        assert found["hss_drift_effect", "hss", *OTHER] == 0.2
        assert found["hss_drift_since_timestamp_seconds", "hss", *OTHER] == NOW.timestamp()


def test_a_known_state_goes_before_an_unknown_one(drifting) -> None:
    """One service without a reference must not hide that the other is stable."""
    unknown = finding(stranger("a"), "insufficient", evidence=None)
    assert drifting(unknown, finding(stranger("b")))["hss_drift_detected", "hss", *OTHER] == 0


def test_series_that_are_gone_vanish(drifting, breaching) -> None:
    """What the last turn did not judge is history; the same goes for the last one of all."""
    before = NOW - timedelta(seconds=30)
    gone = finding(stranger("a"), "drifted", evaluated_at=before)
    assert {key[-3:] for key in drifting(gone, finding())} == {("news", "m1", "law")}
    old = LATELY - timedelta(seconds=1)
    assert drifting(finding(evaluated_at=old)) == {}
    assert breaching(standing(evaluated_at=old)) == {("hss_breaches_open",): 0}


def test_a_turn_of_the_future_hides_nothing(drifting, breaching) -> None:
    """A series that vanished before the clock was set back would speak until it has caught up."""
    later = NOW + timedelta(hours=1)
    left = finding(stranger("a"), "drifted", evaluated_at=later)
    assert drifting(left, finding()) == drifting(finding())
    gone = standing(stranger("a"), "open", evaluated_at=later)
    assert breaching(gone, standing()) == breaching(standing())


def test_a_threshold_shows_limit_value_and_state(breaching) -> None:
    """What a panel draws: the line, the curve, and the red band."""
    assert breaching(standing(state="open", value=0.7)) == {
        ("hss_breaches_open",): 1,
        ("hss_threshold", "mean", "news", "m1", "law"): 0.5,
        ("hss_threshold_value", "mean", "news", "m1", "law"): 0.7,
        ("hss_threshold_records", "mean", "news", "m1", "law"): 40,
        ("hss_threshold_breach", "mean", "page", "news", "m1", "law"): 1,
    }


def test_an_open_breach_is_never_hidden_by_a_calm_series(breaching) -> None:
    """Also by one with a worse value that is not open yet; all open ones are counted."""
    states = [
        standing(stranger("a"), "ok", value=0.9),
        standing(stranger("b"), "open", value=0.6),
        standing(stranger("c"), "open", value=None, records=0),
    ]
    for order in (states, states[::-1]):
        found = breaching(*order)
        assert found["hss_threshold_breach", "mean", "page", *OTHER] == 1
        assert found["hss_threshold_value", "mean", *OTHER] == 0.6
        assert found[("hss_breaches_open",)] == 2


def test_worse_is_lower_where_low_is_bad(breaching) -> None:
    """Entity support."""
    low, high = (
        standing(stranger(name), threshold="support", value=value)
        for name, value in (("a", 0.4), ("b", 0.9))
    )
    assert breaching(low, high)["hss_threshold_value", "support", *OTHER] == 0.4


def test_before_its_first_answer_a_threshold_is_neither_open_nor_calm(breaching) -> None:
    """Absent; after an answer once given, silence changes nothing."""
    silent = standing(value=None, records=2)
    key = ("hss_threshold_breach", "mean", "page", "news", "m1", "law")
    assert key not in breaching(silent)
    answered = replace(silent, stored={**Breach().stored(), "value": 0.3})
    assert breaching(answered)[key] == 0


def test_a_threshold_that_was_removed_vanishes(breaching) -> None:
    """Its stored state stays, for the history."""
    assert set(breaching(standing(threshold="old"))) == {("hss_breaches_open",)}


def test_ten_thousand_invented_series_make_one_label_set(drifting, breaching) -> None:
    """Whoever can send a record could otherwise fill Prometheus."""
    names = [f"s{number}" for number in range(10_000)]
    found = [
        *drifting(*(finding(stranger(name)) for name in names)),
        *breaching(*(standing(stranger(name)) for name in names)),
    ]
    assert {key[-3:] for key in found if len(key) > 1} == {OTHER}
