"""What real client libraries sent, posted to the real front as they sent it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "otlp"
SUMMARY = "a search is under way for a man missing in the republic of ireland"
CLIENTS = ("openinference", "traceloop", "v2_span_content")
NAMES = [
    "captured_js_traces0.json",
    *(f"captured_py_{client}_traces0.{kind}" for client in CLIENTS for kind in ("json", "pb")),
    "captured_py_v2_span_content_logs1.json",
    "captured_py_v2_span_content_logs1.pb",
    "repo_otlp_proto_example_trace.json",
    "repo_otlp_proto_example_logs.json",
    "repo_otlp_proto_example_events.json",
]

pytestmark = pytest.mark.skipif(
    not SAMPLES.exists(), reason=f"the telemetry samples are not at {SAMPLES}"
)


def _path(name: str) -> str:
    return "/v1/traces" if "trace" in name.split("_")[-1] else "/v1/logs"


def _type(name: str) -> str:
    return "application/x-protobuf" if name.endswith(".pb") else "application/json"


@pytest.fixture(scope="module")
def front(make_sidecar: Any) -> Any:
    return make_sidecar(ingest={"join_seconds": 0.5})


@pytest.fixture(scope="module")
def answers(front: Any) -> dict[str, httpx.Response]:
    """Every sample posted once, JSON before protobuf; then the wait for the other half is over."""
    told = {}
    for name in NAMES:
        told[name] = front.post(_path(name), (SAMPLES / name).read_bytes(), _type(name))
    front.wait_for(lambda: front.total("hss_records_skipped_total", reason="content_missing") > 0)
    return told


def test_the_list_of_samples_is_complete() -> None:
    """A sample that is added later must not be left out silently."""
    found = [path.name for path in SAMPLES.glob("captured_*")]
    found += [f"repo_otlp_proto_example_{kind}.json" for kind in ("trace", "logs", "events")]
    assert sorted(found) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_export_is_answered_in_its_own_encoding(answers: Any, name: str) -> None:
    """200 with the response message, empty as nothing was rejected: all else is sent again."""
    answer = answers[name]
    assert answer.status_code == 200
    assert answer.headers["content-type"] == _type(name)
    if name.endswith(".json"):
        assert answer.json() == {}
    else:
        logs = _path(name) == "/v1/logs"
        message = ExportLogsServiceResponse() if logs else ExportTraceServiceResponse()
        assert type(message).FromString(answer.content) == message


def test_each_call_with_content_is_one_record(front: Any, answers: Any) -> None:
    """Two of each client, whatever they were sent as and how often: ids in JSON are hex."""
    rows = front.rows("SELECT id, trace_id, span_id, document, summary, service FROM records")
    spans = {
        (span["traceId"], span["spanId"])
        for client in CLIENTS
        for span in json.loads((SAMPLES / f"captured_py_{client}_traces0.json").read_bytes())[
            "resourceSpans"
        ][0]["scopeSpans"][0]["spans"]
    }
    assert len(rows) == 2 * len(CLIENTS)
    assert {(row["trace_id"], row["span_id"]) for row in rows} <= spans
    for row in rows:
        assert row["id"] == f"{row['trace_id']}-{row['span_id']}"
        assert row["document"].startswith("Trevor Deely")
        assert row["summary"].startswith(SUMMARY)
        assert row["service"] == "summarizer-demo"


def test_calls_that_give_no_record_are_counted_by_reason(front: Any, answers: Any) -> None:
    """The JavaScript client sent no content, and each of the four clients failed once."""
    skipped = front.metrics()["hss_records_skipped_total"]
    assert {dict(labels)["reason"]: value for labels, value in skipped.items()} == {
        "content_missing": 1,
        "transport_error": 4,
    }
    assert front.total("hss_records_received_total") == 2 * len(CLIENTS)
    assert front.total("hss_ingest_rejected_total") == 0


def test_the_switch_that_turns_content_on_is_named(front: Any, answers: Any) -> None:
    """In the log, once, and in what `doctor` asks for."""
    [told] = front.log_of("content_missing")
    assert told["service"] == "summarizer-demo-js"
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true" in told["remedy"]
    status = front.http.get("/api/status").json()
    assert [entry["service"] for entry in status["content_missing"]] == ["summarizer-demo-js"]


def test_no_text_of_a_capture_is_logged(front: Any, answers: Any) -> None:
    """Logs go to other places, and to other people, than the database."""
    assert "Deely" not in "".join(map(str, front.log()))
