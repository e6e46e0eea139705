"""Metrics: declared once, labelled from configuration only, exported without going stale."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry

from monitor.exporter import Sample, Snapshot, count_finished, exposition
from monitor.labels import LabelPolicy
from monitor.records import FinishedRecord
from monitor.telemetry import METRICS, Telemetry

MakeFinished = Callable[..., FinishedRecord]


@pytest.fixture
def telemetry() -> Telemetry:
    labels = LabelPolicy(services=["news"], models=["m1"], categories=["law"])
    return Telemetry(CollectorRegistry(), labels)


STRATUM = {"service": "news", "model": "m1", "category": "law"}


def test_a_scored_record_is_counted_under_its_stratum(
    telemetry: Telemetry, finished: MakeFinished
) -> None:
    """The counter is what rates and burn rates are made of."""
    count_finished(telemetry, finished())
    assert telemetry.registry.get_sample_value("hss_records_scored_total", STRATUM) == 1.0


def test_unknown_values_are_not_observed_as_zero(
    telemetry: Telemetry, finished: MakeFinished
) -> None:
    """A missing null distance must not pull its mean down."""
    count_finished(telemetry, finished())
    value = telemetry.registry.get_sample_value
    assert value("hss_null_distance_count", STRATUM) is None
    assert value("hss_stage_no_data_total", {"stage": "null_control"}) == 1.0
    assert value("hss_stage_done_total", {"stage": "normalize"}) == 1.0


def test_instability_is_missing_only_where_it_was_asked_for(
    telemetry: Telemetry, finished: MakeFinished
) -> None:
    """Records outside the policy's share would drown the failures of those inside."""
    row = finished(shap_instability=0.3, lime_reason="over_budget", smile_reason="not_selected")
    count_finished(telemetry, row)
    value = telemetry.registry.get_sample_value
    assert value("hss_shap_instability_sum", STRATUM) == pytest.approx(0.3)
    assert value("hss_stage_done_total", {"stage": "shap"}) == 1.0
    assert value("hss_stage_no_data_total", {"stage": "lime"}) == 1.0
    for stage in ("smile", "attention"):
        assert value("hss_stage_no_data_total", {"stage": stage}) is None


def test_the_comparators_are_observed_like_the_score(
    telemetry: Telemetry, finished: MakeFinished
) -> None:
    """The paper's measures stand beside HSS; SummaC is moved from [-1, 1] to [0, 1]."""
    count_finished(telemetry, finished(content_word_precision=0.75, summac=-0.5, factcc=0.125))
    value = telemetry.registry.get_sample_value
    names = ("content_word_precision", "summac", "factcc")
    assert [value(f"hss_{name}_sum", STRATUM) for name in names] == [0.75, 0.25, 0.125]


def test_every_stage_that_takes_time_tells_whether_it_gave_anything(
    telemetry: Telemetry, finished: MakeFinished
) -> None:
    """A stage that stops every record must stand out beside those that work."""
    times = dict.fromkeys(("category", "support", "perturb"), 0.1)
    count_finished(
        telemetry, finished(state="skipped", reason="no_eligible_tokens", stage_seconds=times)
    )
    scored = {**times, **dict.fromkeys(("summarize", "attribute", "check"), 0.1)}
    count_finished(telemetry, finished(stage_seconds=scored, shap_reason="over_budget"))
    count_finished(telemetry, finished(stage_seconds=scored, shap_reason="not_selected"))
    found = {
        stage: tuple(
            telemetry.registry.get_sample_value(f"hss_stage_{outcome}_total", {"stage": stage})
            for outcome in ("done", "no_data")
        )
        for stage in scored
    }
    assert found == {
        "category": (3.0, None),
        "support": (3.0, None),
        "perturb": (2.0, 1.0),
        "summarize": (2.0, None),
        "attribute": (None, 1.0),
        "check": (2.0, None),
    }


@pytest.mark.parametrize("state", ["skipped", "failed"])
def test_an_unscored_record_is_counted_by_reason(
    telemetry: Telemetry, state: str, finished: MakeFinished
) -> None:
    """On call people see why nothing is scored."""
    count_finished(telemetry, finished(state=state, reason="too_long", hss=None))
    name = f"hss_records_{state}_total"
    assert telemetry.registry.get_sample_value(name, {"reason": "too_long"}) == 1.0


def test_clients_cannot_choose_label_values(telemetry: Telemetry, finished: MakeFinished) -> None:
    """Ten thousand invented names make one series."""
    for number in range(10_000):
        count_finished(telemetry, finished(service=f"s{number}", model=f"m{number}x", category="c"))
    body, _ = exposition(telemetry.registry, "")
    series = [line for line in body.decode().splitlines() if line.startswith("hss_score_count")]
    assert series == ['hss_score_count{category="other",model="other",service="other"} 10000.0']


def test_open_metrics_carry_the_record_as_exemplar(
    telemetry: Telemetry, finished: MakeFinished
) -> None:
    """Grafana's dot leads from the histogram to the record."""
    count_finished(telemetry, finished(id="abc"))
    body, kind = exposition(telemetry.registry, "application/openmetrics-text; version=1.0.0")
    assert "openmetrics" in kind
    assert '# {record_id="abc"} 0.95' in body.decode()


def test_a_series_vanishes_with_its_snapshot() -> None:
    """A stale gauge would keep an alert alive for ever."""
    registry, snapshot = CollectorRegistry(), Snapshot()
    registry.register(snapshot)
    snapshot.replace([Sample(name="hss_queue_records", labels=("queued",), value=3)])
    assert registry.get_sample_value("hss_queue_records", {"state": "queued"}) == 3
    snapshot.replace([])
    assert registry.get_sample_value("hss_queue_records", {"state": "queued"}) is None


def test_a_gauge_with_wrong_labels_is_refused() -> None:
    """It would corrupt the whole exposition."""
    with pytest.raises(ValueError, match="hss_queue_records"):
        Snapshot().replace([Sample(name="hss_queue_records", labels=(), value=1)])


def test_every_metric_follows_the_naming_rules() -> None:
    """One prefix, counters end in _total, help is a sentence, names are unique."""
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.name.startswith("hss_")
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name
        assert metric.help.endswith("."), metric.name
        assert bool(metric.buckets) == (metric.kind == "histogram"), metric.name
