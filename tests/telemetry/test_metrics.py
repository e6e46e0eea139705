"""What `/metrics` of the real front says over a run that has seen everything."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.openmetrics import parser
from prometheus_client.parser import text_string_to_metric_families

from monitor.calibrating import Window
from monitor.drift_references import fit_references
from monitor.records import (
    IncomingRecord,
    Reason,
    RecordState,
    SampledRecord,
    SamplingDecision,
    Stratum,
)
from monitor.settings.watching import Drift
from monitor.telemetry import BY_NAME, METRICS

KNOWN = {"service": "news", "model": "m1"}
DRIFT = {
    "signals": ["entity_support"],
    "min_reference_records": 80,
    "cycle_hours": 0.0001,
    "min_records": 5,
    "permutations": 99,
    "false_alarm_days": 0.001,
}
"""The least with which everything that can be said of drift is said."""
QUICK = {"limit": {"value": 0.7}, "min_records": 1, "hold_seconds": 0}
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture(scope="module")
def front(make_sidecar: Any) -> Any:
    return make_sidecar(
        labels={"services": ["news"], "models": ["m1"]},
        sampling={"budget": {"records_per_hour": 1_000_000, "epoch_seconds": 0.5}},
        ingest={"join_seconds": 0.1},
        evaluation={"enabled": True, "seconds": 0.5, "lease_seconds": 5},
        drift=DRIFT,
        thresholds=[
            {"name": "low", "signal": "entity_support", "comparison": "below", **QUICK},
            {"name": "share", "signal": "hss", "statistic": "share_above", **QUICK}
            | {"level": {"value": 0.2}},
        ],
    )


def _drift(stores: Any, calibration: Any, scored: Any) -> None:
    """Ninety records of a service elsewhere, their reference, and ninety of its bad release."""
    began = datetime.now(UTC) - timedelta(minutes=10)
    for number in range(180):
        if number == 90:
            window = Window(name="reference", until=calibration.created_at)
            made = fit_references(stores, calibration, window, Drift(**DRIFT))
            stores.drift.save_references(made)
            stores.calibrations.activate(calibration.id)
        bad = number >= 90
        _score(
            stores,
            scored,
            f"drifting-{number:03d}",
            received_at=began + timedelta(seconds=number),
            support=0.2 if bad else 0.9 + (number % 7) / 100,
        )


def _score(stores: Any, scored: Any, name: str, *, received_at: datetime, support: float) -> None:
    record = IncomingRecord(
        id=name,
        document="d",
        summary="s",
        service="elsewhere",
        model="m",
        received_at=received_at,
        category="general",
    )
    decision = SamplingDecision(
        sampled=True,
        stratum=Stratum(service="elsewhere", model="m", category="general"),
        probability=1.0,
        epoch=1,
    )
    stores.queue.accept([SampledRecord(record=record, decision=decision, front="another")])
    (item,) = stores.queue.lease("test", count=1, seconds=60)
    result = scored(name)
    stores.queue.finish(
        item.lease, replace(result, support=replace(result.support, entity_support=support))
    )


@pytest.fixture
def busy(front: Any, scored: Any, calibration: Any) -> Iterator[Any]:
    """The front after a scored, a skipped and a failed record, a replay and a refusal."""
    record = {"document": "d", "summary": "s", **KNOWN}
    replay = {
        "traceId": "ab" * 16,
        "spanId": "cd" * 8,
        "traceState": "hss=replay",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            {"key": "gen_ai.prompt.0.role", "value": {"stringValue": "user"}},
            {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "d"}},
            {"key": "gen_ai.completion.0.content", "value": {"stringValue": "s"}},
        ],
    }
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [replay]}]}]}
    names = ("scored", "skipped", "failed", "waiting")
    front.post_records(*({"id": name, **record} for name in names))
    assert front.http.post("/v1/traces", json=spans).status_code == 200
    assert front.post("/v1/records", b"{", "application/json").status_code == 400
    with front.stores() as stores:
        if not stores.calibrations.all():
            stores.calibrations.add(calibration, activate=False)
            results = {
                "scored": scored("scored"),
                "skipped": replace(
                    scored("skipped", severity=None, support=None, checks={}),
                    state=RecordState.SKIPPED,
                    reason=Reason.TOO_LONG,
                ),
                "failed": replace(
                    scored("failed", severity=None, support=None, checks={}),
                    state=RecordState.FAILED,
                    reason=Reason.SUMMARIZER_ERROR,
                ),
            }
            for item in stores.queue.lease("test", count=4, seconds=60):
                if item.record.id in results:
                    stores.queue.finish(item.lease, results[item.record.id])
                else:
                    stores.queue.put_back(item.lease, delay=600)
            _drift(stores, calibration, scored)
    front.wait_for(lambda: front.total("hss_records_failed_total") == 1)
    front.wait_for(lambda: "hss_window_mean" in front.metrics())
    front.wait_for(lambda: "hss_sampling_rate_ratio" in front.metrics())
    front.wait_for(lambda: front.total("hss_drift_detected") == 1)
    # With the first of the bad records it is drift, only with the last enough for a test.
    front.wait_for(lambda: "hss_drift_p_value" in front.metrics())
    front.wait_for(lambda: front.total("hss_threshold_breach", threshold="share") == 2)
    yield front


def _names(front: Any) -> set[str]:
    families = text_string_to_metric_families(front.http.get("/metrics").text)
    found = {f.name if f.type != "counter" else f"{f.name}_total" for f in families if f.samples}
    return {name for name in found if not name.startswith(("python_", "process_"))}


def _series(front: Any) -> set[str]:
    lines = front.http.get("/metrics").text.splitlines()
    return {line.rpartition(" ")[0] for line in lines if not line.startswith("#")}


def test_what_is_emitted_is_registered_and_what_is_registered_is_emitted(busy: Any) -> None:
    """A panel on a metric that never comes is as wrong as a metric that nobody declared."""
    assert _names(busy) == {metric.name for metric in METRICS}


def test_types_help_and_labels_are_as_declared(busy: Any) -> None:
    """Dashboards and alerts are checked against the declarations, so these must be true."""
    for family in text_string_to_metric_families(busy.http.get("/metrics").text):
        declared = BY_NAME.get(family.name) or BY_NAME[f"{family.name}_total"]
        assert (family.type, family.documentation) == (declared.kind, declared.help)
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == set(declared.labels)


def test_promtool_finds_nothing_to_say(busy: Any) -> None:
    """Prometheus' own idea of good names, units and help."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    told = subprocess.run(
        [promtool, "check", "metrics"],
        check=False,
        input=busy.http.get("/metrics").text,
        capture_output=True,
        text=True,
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_open_metrics_lead_from_a_bucket_to_a_record(busy: Any) -> None:
    """The dot in a Grafana panel is a record that can be opened."""
    answer = busy.http.get("/metrics", headers={"accept": OPEN_METRICS})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    parse: Callable[[str], Iterable[Any]] = parser.text_string_to_metric_families  # untyped
    exemplars = {
        sample.exemplar.labels["record_id"]: sample.exemplar.value
        for family in parse(answer.text)
        if family.name == "hss_score"
        for sample in family.samples
        if sample.exemplar is not None
    }
    assert exemplars == {"scored": 0.25}


def test_each_record_is_counted_once(busy: Any) -> None:
    """Four came in, one of each kind went out, and the posts repeated by this file are none."""
    totals = {
        name: busy.total(f"hss_records_{name}_total")
        for name in ("received", "sampled", "scored", "skipped", "failed")
    }
    assert totals == {"received": 4, "sampled": 4, "scored": 1, "skipped": 1, "failed": 1}
    assert busy.total("hss_records_skipped_total", reason="too_long") == 1
    assert busy.total("hss_replays_ignored_total") == 1
    assert busy.total("hss_summac_sum") == 0.75, "0.5, moved to [0, 1]"
    assert busy.total("hss_window_mean", signal="hss", service="news", model="m1") == 0.25


def test_a_task_that_has_not_run_has_its_counters(busy: Any) -> None:
    """An alert sees a failure as an increase, and the first one of a series is none."""
    series = _series(busy)
    for outcome in ("done", "failed"):
        assert f'hss_job_runs_total{{outcome="{outcome}",task="retention"}}' in series


def test_ten_thousand_names_make_no_new_series(busy: Any, scored: Any) -> None:
    """Whoever can send a record could otherwise fill Prometheus; some of them are scored, so that
    windows, thresholds and drift know their names, too."""

    def finish(count: int) -> None:
        with busy.stores() as stores:
            for item in stores.queue.lease("test", count=count, seconds=60):
                result = scored(item.record.id, category=item.record.category)
                stores.queue.finish(item.lease, result)

    stranger = {"document": "d", "summary": "s", "service": "x", "model": "y", "category": "z"}
    other = {"service": "other", "model": "other"}
    busy.post_records(stranger)
    busy.wait_for(lambda: busy.total("hss_sampling_rate_ratio", **other) > 0)
    finish(1)
    everything_else = {**other, "category": "other"}
    busy.wait_for(lambda: busy.total("hss_threshold_weight_total", **everything_else) == 1)
    busy.wait_for(lambda: busy.total("hss_threshold_records", **everything_else) == 2)
    before = _series(busy)
    strangers = [
        {**stranger, "service": f"s-{n}", "model": f"m-{n}", "category": f"c-{n}"}
        for n in range(10_000)
    ]
    epoch = busy.log_of("sampling_epoch_opened")[-1]["epoch"]

    assert busy.post_records(*strangers).json()["sampled"] == 10_000
    busy.wait_for(lambda: busy.log_of("sampling_epoch_opened")[-1]["epoch"] > epoch)
    finish(200)
    busy.wait_for(lambda: busy.total("hss_threshold_weight_total", **everything_else) == 201)
    time.sleep(2.0)  # turns of the evaluator, and of the gauges

    assert busy.total("hss_records_received_total", **other) == 10_001
    assert _series(busy) - before == set()


def test_no_histogram_takes_values_below_zero() -> None:
    """Its sum could fall then: the client leaves it out, and no rate or mean can be drawn."""
    assert [metric.name for metric in METRICS if metric.buckets and metric.buckets[0] < 0] == []
