"""Other tools are told: evaluation events beside their spans, breaches to a webhook."""

from __future__ import annotations

import itertools
import json
import runpy
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from monitor.records import RecordState, ScoredRecord, Severity

receiving = runpy.run_path(str(Path(__file__).with_name("receiver.py")))["receiving"]

SECRET = "a key for tests only"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
BREACHING = {
    "name": "hss_mean",
    "signal": "hss",
    "limit": {"value": 0.8},
    "window_seconds": 6,
    "min_records": 1,
    "hold_seconds": 0,
    "calm_seconds": 0,
    "severity": "page",
}


@pytest.fixture
def receiver() -> Iterator[Any]:
    with receiving() as receiver:
        yield receiver


def score(sidecar: Any, record_id: str, hss: float, **fields: str) -> None:
    """Post a record and finish it as a scorer elsewhere would."""
    record = {"id": record_id, "document": "d", "summary": "s", "service": "news", "model": "m"}
    assert sidecar.post_records({**record, **fields}).status_code == 200
    severity = Severity(
        hss=hss, low=None, high=None, reason=None, interval_reason=None, normalizer=None
    )
    with sidecar.stores() as stores:
        [leased] = stores.queue.lease("test", count=1, seconds=60)
        stores.queue.finish(
            leased.lease,
            ScoredRecord(
                record_id=record_id,
                state=RecordState.SCORED,
                reason=None,
                detail="",
                category="general",
                scored_at=datetime.now(UTC),
                fingerprint="fp",
                severity=severity,
            ),
        )


def events(receiver: Any) -> list[Any]:
    """Log records of the requests that were taken."""
    return [
        record
        for request in receiver.taken()
        for logs in ExportLogsServiceRequest.FromString(request.body).resource_logs
        for scope in logs.scope_logs
        for record in scope.log_records
    ]


def told_once(receiver: Any) -> list[Any]:
    """The events without repetitions: one that was killed before it noted the answer asks again."""
    first: dict[int, Any] = {}
    for event in events(receiver):
        # When it was observed differs, when its record was scored does not.
        first.setdefault(event.time_unix_nano, event)
    return list(first.values())


def test_scores_arrive_as_events_of_the_spans_that_they_judge(
    make_sidecar: Any, receiver: Any
) -> None:
    """Also while the endpoint is down at first, and with the sidecar killed in between."""
    receiver.answer = lambda number: 503 if number <= 1 else 200
    url = f"{receiver.url}/v1/logs"
    sidecar = make_sidecar(
        outlets={
            "public_url": "https://hss.example",
            "events": {"url": url, "headers": {"authorization": "Bearer t"}},
        }
    )
    # From its first turn on the job sends what is scored.
    sidecar.wait_for(lambda: len(sidecar.rows("SELECT * FROM outlet_cursors")) == 1)
    score(sidecar, "r1", 0.25, trace_id=TRACE, span_id=SPAN)
    sidecar.wait_for(lambda: len(receiver.requests) >= 1)
    sidecar.kill()
    sidecar.start()
    score(sidecar, "r2", 0.95)
    sidecar.wait_for(lambda: len(told_once(receiver)) == 2)
    assert {request.path for request in receiver.requests} == {"/v1/logs"}
    assert {request.headers["authorization"] for request in receiver.requests} == {"Bearer t"}
    first, second = told_once(receiver)
    assert (first.event_name, first.trace_id.hex(), first.span_id.hex()) == (
        "gen_ai.evaluation.result",
        TRACE,
        SPAN,
    )
    told = {each.key: each.value for each in first.attributes}
    assert told["gen_ai.evaluation.name"].string_value == "hss"
    assert told["gen_ai.evaluation.score.value"].double_value == 0.25
    assert told["gen_ai.evaluation.score.label"].string_value == "pass"
    assert told["hss.record.url"].string_value == "https://hss.example/records/r1"
    told = {each.key: each.value for each in second.attributes}
    assert told["gen_ai.evaluation.score.label"].string_value == "fail"
    assert second.trace_id == b""
    sidecar.wait_for(
        lambda: sidecar.total("hss_outlet_requests_total", outlet="events", outcome="taken") >= 1
    )


def test_a_webhook_gets_one_opening_and_one_resolution(make_sidecar: Any, receiver: Any) -> None:
    """With the sidecar killed in between, and a receiver that answers 500 at first, each time."""
    failing = {1, 2, 4}
    receiver.answer = lambda number: 500 if number in failing else 200
    sidecar = make_sidecar(
        evaluation={"enabled": True, "seconds": 0.5, "lease_seconds": 3},
        thresholds=[BREACHING],
        outlets={
            "public_url": "https://hss.example",
            "webhook": {"url": f"{receiver.url}/hook", "secret": SECRET},
        },
    )
    numbers = itertools.count()

    def requests_after(hss: float) -> int:
        """How many requests came, while records with this score go on coming."""
        score(sidecar, f"r{next(numbers)}", hss)
        return len(receiver.requests)

    sidecar.wait_for(lambda: requests_after(0.95) >= 1)
    sidecar.kill()
    sidecar.start()
    sidecar.wait_for(lambda: len(receiver.taken()) == 1)
    sidecar.wait_for(lambda: requests_after(0.1) >= 4)
    sidecar.wait_for(lambda: len(receiver.taken()) == 2)
    sidecar.kill()
    sidecar.start()
    sidecar.wait_for(lambda: len(sidecar.log_of("front_started")) == 3)
    sidecar.wait_for(lambda: sidecar.total("hss_evaluator_active") == 1)
    told = [json.loads(request.body) for request in receiver.taken()]
    assert [each["type"] for each in told] == ["breach.opened", "breach.resolved"]
    [breach] = sidecar.rows("SELECT id FROM breaches")
    assert {each["data"]["breach"]["id"] for each in told} == {breach["id"]}
    assert told[0]["data"]["links"]["breach"] == f"https://hss.example/breaches/{breach['id']}"
    keys = {request.headers["idempotency-key"] for request in receiver.requests}
    assert keys == {f"{breach['id']}:open", f"{breach['id']}:resolved"}
    assert SECRET not in sidecar.file.with_name("log").read_text()
