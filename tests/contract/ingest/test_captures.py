"""What real client libraries sent, posted as they sent it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from monitor.records import Reason

SUMMARY = "a search is under way for a man missing in the republic of ireland"
TYPES = {".json": "application/json", ".pb": "application/x-protobuf"}


def _content_type(name: str) -> str:
    return next(kind for suffix, kind in TYPES.items() if name.endswith(suffix))


@pytest.mark.parametrize(
    "name",
    [
        f"captured_py_{client}_traces0.{suffix}"
        for client in ("v2_span_content", "traceloop", "openinference")
        for suffix in ("json", "pb")
    ],
)
def test_a_capture_with_content_gives_its_records(front: Any, sample: Any, name: str) -> None:
    """One plain and one streamed call are records; the failed one is counted as such."""
    response = front.post("/v1/traces", sample(name), content_type=_content_type(name))

    assert response.status_code == 200
    first, second = front.intake.records.values()
    for record in (first, second):
        assert record.document.startswith("Trevor Deely, 22,")
        assert record.document.endswith("appeal for him to come forward.")
        assert record.summary.startswith(SUMMARY)
        assert (record.service, record.release) == ("summarizer-demo", "1.0.0")
        assert record.model == "gpt-4o-mini"
        assert record.started_at is not None
        assert record.started_at.year == 2026
        assert [message.role for message in record.request.messages] == ["system", "user"]
        assert record.document in record.request.messages[1].content
    assert first.request.parameters == {"max_tokens": 200, "temperature": 0.2}
    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1}


@pytest.mark.parametrize("client", ["v2_span_content", "traceloop", "openinference"])
def test_both_encodings_of_a_span_are_one_record(front: Any, sample: Any, client: str) -> None:
    """Ids are hex in JSON and bytes in protobuf; read as base64 they would differ."""
    for suffix, kind in TYPES.items():
        front.post("/v1/traces", sample(f"captured_py_{client}_traces0{suffix}"), content_type=kind)

    assert len(front.intake.records) == 2
    for record in front.intake.records.values():
        assert record.id == f"{record.trace_id}-{record.span_id}"
        assert (len(record.trace_id), len(record.span_id)) == (32, 16)


def test_an_empty_export_is_a_success_in_its_own_encoding(front: Any) -> None:
    """An exporter takes anything but the response message for a failure."""
    for path, message in (
        ("/v1/traces", ExportTraceServiceResponse()),
        ("/v1/logs", ExportLogsServiceResponse()),
    ):
        binary = front.post(path, b"", content_type="application/x-protobuf")
        text = front.post(path, b"{}", content_type="application/json; charset=utf-8")

        assert (binary.status_code, text.status_code) == (200, 200)
        assert binary.headers["content-type"] == "application/x-protobuf"
        assert message.FromString(binary.content) == message
        assert text.headers["content-type"] == "application/json"
        assert text.json() == {}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("repo_otlp_proto_example_trace.json", "/v1/traces"),
        ("repo_otlp_proto_example_logs.json", "/v1/logs"),
        ("repo_otlp_proto_example_events.json", "/v1/logs"),
    ],
)
def test_telemetry_of_other_kinds_is_taken_silently(
    front: Any, sample: Any, name: str, path: str
) -> None:
    """A service exports all of its spans; those that are no model call are no fault."""
    response = front.post(path, sample(name), content_type="application/json")

    assert (response.status_code, response.json()) == (200, {})
    assert front.intake.records == {}
    assert front.intake.reasons == {}


def test_bare_numbers_count_as_times(front: Any, sample: Any) -> None:
    """Some exporters write 64-bit integers as JSON numbers."""
    request = json.loads(sample("captured_py_traceloop_traces0.json"))
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["startTimeUnixNano"] = int(span["startTimeUnixNano"])
        span["traceId"] = span["traceId"].upper()
        span["aFieldOfTheFuture"] = {"x": 1}
    response = front.post("/v1/traces", json.dumps(request), content_type="application/json")

    assert response.json() == {}
    ids = [record.trace_id for record in front.intake.records.values()]
    assert ids == ["c918d6af177d8434e0bbf0bf11a29fbb"] * 2


def test_a_name_that_no_index_takes_is_cut(front: Any, sample: Any) -> None:
    """A database that refuses it would have its exporter send the same spans again for ever."""
    request = json.loads(sample("captured_py_v2_span_content_traces0.json"))
    for attribute in request["resourceSpans"][0]["resource"]["attributes"]:
        if attribute["key"] == "service.name":
            attribute["value"] = {"stringValue": "é" * 10_000}
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for attribute in span["attributes"]:
            if attribute["key"] == "gen_ai.response.model":
                attribute["value"] = {"stringValue": "x本" * 10_000}
    front.post("/v1/traces", json.dumps(request), content_type="application/json")

    names = {(record.service, record.model) for record in front.intake.records.values()}
    assert names == {("é" * 256, "x本" * 128)}


def test_spans_without_content_are_counted_after_their_wait(front: Any, sample: Any) -> None:
    """The content may still come in a log event, so the count waits for the join limit."""
    front.post("/v1/traces", sample("captured_js_traces0.json"), content_type="application/json")
    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1}

    front.wait(31)

    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1, Reason.CONTENT_MISSING: 1}
    assert front.intake.records == {}


def test_the_switch_is_named_once_a_service(
    front: Any, sample: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """An operator needs one line that says what to set, not one for each call."""
    body = json.loads(sample("captured_js_traces0.json"))
    for digit in "12":
        for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            span["spanId"] = digit + span["spanId"][1:]
        front.post("/v1/traces", json.dumps(body), content_type="application/json")
        front.wait(31)

    told = capsys.readouterr().out
    assert told.count("content_missing") == 1
    assert told.count("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true") == 1
    assert "summarizer-demo-js" in told


@pytest.mark.parametrize("suffix", [".json", ".pb"])
@pytest.mark.parametrize("logs_first", [True, False])
def test_span_and_log_with_content_are_one_record(
    front: Any, sample: Any, suffix: str, logs_first: bool
) -> None:
    """With content in both places the call must not be scored twice."""
    posts = [
        ("/v1/logs", f"captured_py_v2_span_content_logs1{suffix}"),
        ("/v1/traces", f"captured_py_v2_span_content_traces0{suffix}"),
    ]
    for path, name in posts if logs_first else reversed(posts):
        assert front.post(path, sample(name), content_type=TYPES[suffix]).status_code == 200
    front.wait(31)

    assert len(front.intake.records) == 2
    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1}
