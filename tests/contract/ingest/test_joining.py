"""Content that arrives apart from its span."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from monitor.errors import Overloaded
from monitor.ingest.join import JoinBuffer
from monitor.records import Reason
from monitor.replays import replay_trace_id

CONTENT = ("gen_ai.input.messages", "gen_ai.output.messages")
LOGS = "captured_py_v2_span_content_logs1.json"
TRACES = "captured_py_v2_span_content_traces0.json"


@pytest.fixture
def spans(sample: Callable[[str], bytes]) -> dict[str, Any]:
    """The capture's spans as a client with content in events only would send them."""
    request: dict[str, Any] = json.loads(sample(TRACES))
    for span in _spans(request):
        span["attributes"] = [a for a in span["attributes"] if a["key"] not in CONTENT]
    return request


def _spans(request: dict[str, Any]) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return spans


def _post(front: Any, path: str, request: Any) -> int:
    content = request if isinstance(request, bytes) else json.dumps(request)
    status: int = front.post(path, content, content_type="application/json").status_code
    return status


@pytest.mark.parametrize("logs_first", [True, False])
def test_either_half_may_come_first(front: Any, sample: Any, spans: Any, logs_first: bool) -> None:
    """Exporters of spans and of logs run on their own timers."""
    halves = [("/v1/logs", sample(LOGS)), ("/v1/traces", spans)]
    for path, half in halves if logs_first else halves[::-1]:
        assert front.intake.records == {}
        assert _post(front, path, half) == 200

    assert len(front.intake.records) == 2
    for record in front.intake.records.values():
        assert record.document.startswith("Trevor Deely")
        assert record.started_at is not None, "only the span tells when the call began"
    front.wait(60)
    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1}


@pytest.mark.parametrize("logs_first", [True, False])
def test_a_replay_never_becomes_a_record_by_its_log(
    front: Any, sample: Any, spans: Any, logs_first: bool
) -> None:
    """A log record has no trace state: taken alone it would feed replays to themselves."""
    for span in _spans(spans):
        span["traceState"] = "vendor=1,hss=replay"
    halves = [("/v1/logs", sample(LOGS)), ("/v1/traces", spans)]
    for path, half in halves if logs_first else halves[::-1]:
        _post(front, path, half)
    front.wait(60)

    assert front.intake.records == {}
    assert front.intake.replays == 3
    assert front.intake.reasons == {}


def test_a_replay_with_content_on_its_span_is_dropped(front: Any, sample: Any) -> None:
    """Content on the span makes it complete, but still a replay."""
    request = json.loads(sample(TRACES))
    for span in _spans(request):
        span["traceState"] = "hss=replay"
    _post(front, "/v1/traces", request)

    assert (front.intake.records, front.intake.replays) == ({}, 3)


def test_a_replay_is_known_by_its_trace_without_trace_state(
    front: Any, sample: Any, spans: Any
) -> None:
    """Collectors drop trace states, and an event of a log has none: the trace id stays."""
    ids: dict[str, str] = {}
    logs = json.loads(sample(LOGS))
    events = logs["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    for item in [*events, *_spans(spans)]:
        item["traceId"] = ids.setdefault(item["traceId"], replay_trace_id())
    _post(front, "/v1/logs", logs)
    assert front.intake.replays == 3
    _post(front, "/v1/traces", spans)
    front.wait(60)

    assert (front.intake.records, front.intake.replays) == ({}, 3)
    assert front.intake.reasons == {}


def test_events_whose_span_never_comes_are_counted(front: Any, sample: Any) -> None:
    """Whether they belong to a replay cannot be known, so they are not scored."""
    _post(front, "/v1/logs", sample(LOGS))
    front.wait(31)

    assert front.intake.records == {}
    assert front.intake.reasons == {Reason.SPAN_MISSING: 3}


def test_a_refused_request_can_be_sent_again(front: Any, sample: Any, spans: Any) -> None:
    """The half that was here before must not be used up by the try that failed."""
    _post(front, "/v1/logs", sample(LOGS))
    front.intake.error = Overloaded("full", retry_after=7)

    refused = front.post("/v1/traces", json.dumps(spans), content_type="application/json")

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "7")
    assert front.intake.reasons == {}, "what will be sent again is not counted yet"
    front.intake.error = None
    assert _post(front, "/v1/traces", spans) == 200
    assert len(front.intake.records) == 2
    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1}


def test_the_buffer_keeps_within_its_limits(make_front: Any, sample: Any) -> None:
    """A service whose spans go elsewhere must not fill the sidecar's memory."""
    join = JoinBuffer(records=2)
    front = make_front(join=join)
    _post(front, "/v1/logs", sample(LOGS))

    assert join.waiting == 2
    assert front.intake.reasons == {Reason.SPAN_MISSING: 1}

    small = JoinBuffer(bytes=5_000)
    front = make_front(join=small)
    _post(front, "/v1/logs", sample(LOGS))

    assert small.size <= 5_000


def test_a_clock_that_was_set_back_keeps_no_half_waiting(front: Any, sample: Any) -> None:
    """A client whose content switch is off would be told of only when it has caught up."""
    _post(front, "/v1/logs", sample(LOGS))
    front.wait(-60)
    assert front.intake.reasons == {}
    front.wait(-3600)
    assert front.intake.reasons == {Reason.SPAN_MISSING: 3}


def test_upstream_sampling_is_kept_with_the_record(front: Any, sample: Any) -> None:
    """A sender that keeps one trace in four makes each record count for four."""
    request = json.loads(sample(TRACES))
    for span in _spans(request):
        span["traceState"] = "ot=th:c"
    _post(front, "/v1/traces", request)

    told = [record.upstream_probability for record in front.intake.records.values()]
    assert told == [0.25, 0.25]


def test_events_with_one_message_each_are_put_together(front: Any) -> None:
    """Older instrumentations write an event for each message and each choice."""
    ids = {"traceId": "ab" * 16, "spanId": "cd" * 8}

    def text(content: str) -> dict[str, Any]:
        return {"key": "content", "value": {"stringValue": content}}

    def event(name: str, *members: dict[str, Any]) -> dict[str, Any]:
        body = {"kvlistValue": {"values": list(members)}}
        return {**ids, "eventName": name, "body": body}

    def choice(index: int, content: str) -> dict[str, Any]:
        message = {"key": "message", "value": {"kvlistValue": {"values": [text(content)]}}}
        number = {"key": "index", "value": {"intValue": str(index)}}
        return event("gen_ai.choice", number, message)

    first = [
        event("gen_ai.system.message", text("Be brief.")),
        event("gen_ai.user.message", text("Summarise this text.\n\nA man was found.")),
    ]
    then = [choice(0, "Man found."), choice(1, "Found: a man.")]
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.request.model", "value": {"stringValue": "m"}},
    ]
    _post(front, "/v1/logs", {"resourceLogs": [{"scopeLogs": [{"logRecords": first}]}]})
    _post(front, "/v1/logs", {"resourceLogs": [{"scopeLogs": [{"logRecords": then}]}]})
    span = {**ids, "name": "chat m", "attributes": attributes}
    _post(front, "/v1/traces", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})

    (record,) = front.intake.records.values()
    assert record.document == "A man was found."
    assert (record.summary, record.alternatives) == ("Man found.", ("Found: a man.",))
    assert [message.role for message in record.request.messages] == ["system", "user"]
