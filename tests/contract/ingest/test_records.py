"""`POST /v1/records` and `/v1/cloudevents`: what is taken, and how faults are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from monitor.errors import DatabaseUnavailable
from monitor.ingest.redaction import Redaction
from monitor.replays import replay_trace_id

RECORD = {
    "document": "A man was found in Dublin.",
    "summary": "Man found.",
    "service": "news",
    "model": "m",
}
JSON = "application/json"
NDJSON = "application/x-ndjson"


def _lines(*items: Any) -> bytes:
    return b"\n".join(json.dumps(item).encode() for item in items) + b"\n"


@pytest.mark.parametrize(
    ("content", "kind", "accepted"),
    [
        (json.dumps(RECORD), JSON, 1),
        (json.dumps(RECORD, indent=2), JSON, 1),
        (json.dumps([RECORD, RECORD]), JSON, 2),
        (_lines(RECORD, RECORD, RECORD), NDJSON, 3),
        (_lines(RECORD, RECORD), JSON, 2),
        (b"\n\n" + _lines(RECORD) + b"\n  \n" + _lines(RECORD), NDJSON, 2),
        (b"\xef\xbb\xbf" + _lines(RECORD), JSON, 1),
        (b"[]", JSON, 0),
        (b"", NDJSON, 0),
    ],
)
def test_every_form_is_taken(front: Any, content: Any, kind: str, accepted: int) -> None:
    """One object, an array, or a line for each record; also lines under plain JSON."""
    response = front.post("/v1/records", content, content_type=kind)

    assert response.status_code == 200
    assert response.json() == {"accepted": accepted, "sampled": accepted, "rejected": []}
    assert len(front.intake.records) == accepted


@pytest.mark.parametrize(
    ("change", "headers"),
    [
        ({"tracestate": "vendor=1,hss=replay"}, {}),
        ({"trace_id": replay_trace_id(), "span_id": "ab" * 8}, {}),
        ({}, {"tracestate": "hss=replay"}),
    ],
)
def test_a_replay_that_is_posted_never_becomes_a_record(
    front: Any, change: dict[str, str], headers: dict[str, str]
) -> None:
    """A service that posts every call it answers would be asked again about its own replays, and
    about the replays of those, without an end."""
    body = json.dumps({**RECORD, **change})
    response = front.post("/v1/records", body, content_type=JSON, **headers)

    assert response.json() == {"accepted": 1, "sampled": 0, "rejected": []}
    assert (front.intake.records, front.intake.replays) == ({}, 1)


def test_a_replay_among_others_is_passed_over_alone(front: Any) -> None:
    """Clients send in batches."""
    batch = [RECORD, {**RECORD, "tracestate": "hss=replay"}, {**RECORD, "tracestate": "a=b"}]
    response = front.post("/v1/records", json.dumps(batch), content_type=JSON)

    assert (response.json()["accepted"], response.json()["sampled"]) == (3, 2)
    assert front.intake.replays == 1


def test_a_batch_that_was_full_inside_a_replay_loses_no_traffic(front: Any) -> None:
    """It holds calls of before, too; one that tells no trace could be the replay itself."""
    batch = [
        {**RECORD, "trace_id": "ab" * 16, "span_id": "ab" * 8},
        {**RECORD, "trace_id": replay_trace_id(), "span_id": "cd" * 8},
        {**RECORD, "id": "untold"},
    ]
    response = front.post(
        "/v1/records", json.dumps(batch), content_type=JSON, tracestate="hss=replay"
    )

    assert (response.json()["accepted"], response.json()["sampled"]) == (3, 1)
    assert [record.trace_id for record in front.intake.records.values()] == ["ab" * 16]
    assert front.intake.replays == 2


def test_the_data_of_an_event_may_be_a_replay(front: Any) -> None:
    """A gateway tells of every call that went through it."""
    event = {"specversion": "1.0", "id": "1", "source": "/gateway", "type": "summary"}
    data = {**RECORD, "trace_id": replay_trace_id()}
    body = json.dumps({**event, "data": data})
    front.post("/v1/cloudevents", body, content_type="application/cloudevents+json")

    assert (front.intake.records, front.intake.replays) == ({}, 1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"document": None}, "document"),
        ({"document": 5}, "document"),
        ({"summary": ["a"]}, "summary"),
        ({"service": ""}, "service"),
        ({"model": None}, "model"),
        ({"id": "x" * 513}, "id"),
        ({"category": "本" * 171}, "category"),
        ({"trace_id": "abc"}, "trace_id"),
        ({"trace_id": "0" * 32}, "trace_id"),
        ({"span_id": "g" * 16}, "span_id"),
        ({"started_at": "yesterday"}, "started_at"),
        ({"started_at": "2026-11-30T08:00:00"}, "started_at"),
        ({"request": "Summarise."}, "request"),
        ({"request": {"messages": []}}, "request"),
        ({"alternatives": "a"}, "alternatives"),
    ],
)
def test_a_wrong_item_is_rejected_by_itself(front: Any, change: Any, field: str) -> None:
    """The good neighbours are taken; the answer names the field and what to do."""
    body = json.dumps([RECORD, RECORD | change, RECORD])
    answer = front.post("/v1/records", body, content_type=JSON).json()

    assert answer["accepted"] == 2
    (rejection,) = answer["rejected"]
    assert (rejection["index"], rejection["field"]) == (1, field)
    assert rejection["remedy"]


def test_a_bad_line_does_not_spoil_the_others(front: Any) -> None:
    """A cut-off line of NDJSON says nothing about the lines around it."""
    content = _lines(RECORD) + b'{"document": "cut o\n' + _lines(RECORD)
    answer = front.post("/v1/records", content, content_type=NDJSON).json()

    assert answer["accepted"] == 2
    assert [rejection["index"] for rejection in answer["rejected"]] == [1]


@pytest.mark.parametrize("field", ["document", "summary"])
def test_an_empty_text_is_a_record(front: Any, field: str) -> None:
    """The scorer skips it with a reason; refusing it here would hide it."""
    response = front.post("/v1/records", json.dumps(RECORD | {field: ""}), content_type=JSON)

    assert response.json()["accepted"] == 1


def test_what_no_store_takes_is_replaced(front: Any) -> None:
    """PostgreSQL refuses NUL, and no encoder takes a lone surrogate; emoji and Arabic stay."""
    body = (
        '{"document": "a\\u0000b \\ud800 \\ud83d\\ude00 \u0645\u0631\u062d\u0628\u0627", '
        '"summary": "s\\u0000", "service": "x\\u0000", "model": "m"}'
    )
    front.post("/v1/records", body.encode(), content_type=JSON)

    (record,) = front.intake.records.values()
    assert record.document == "a\ufffdb \ufffd \U0001f600 \u0645\u0631\u062d\u0628\u0627"
    assert (record.summary, record.service) == ("s\ufffd", "x\ufffd")


def test_ids_come_from_the_sender_then_from_the_trace(front: Any) -> None:
    """The id makes a retry harmless, so it must be the same each time."""
    ids = {"trace_id": "AB" * 16, "span_id": "CD" * 8}
    for item in (RECORD | ids, RECORD | ids, RECORD | ids | {"id": "own"}):
        front.post("/v1/records", json.dumps(item), content_type=JSON)

    assert set(front.intake.records) == {f"{'ab' * 16}-{'cd' * 8}", "own"}


def test_the_request_is_kept_as_the_template_of_replays(front: Any) -> None:
    """An OpenAI body is taken as it is, without what a replay must not send."""
    messages = [{"role": "user", "content": f"Summarise: {RECORD['document']}"}]
    request = {"model": "asked", "messages": messages, "temperature": 0.5, "stream": True}
    item = RECORD | {"request": request | {"tools": [], "store": True, "user": "u1"}}
    front.post("/v1/records", json.dumps(item), content_type=JSON)

    (record,) = front.intake.records.values()
    assert record.request.model == "asked"
    assert record.request.parameters == {"temperature": 0.5}
    assert record.request.messages[0].content == messages[0]["content"]


def test_a_request_without_the_document_is_dropped(front: Any) -> None:
    """Replaying it would ask the same question K times and look perfectly stable."""
    request = {"model": "m", "messages": [{"role": "user", "content": "Something else."}]}
    front.post("/v1/records", json.dumps(RECORD | {"request": request}), content_type=JSON)

    (record,) = front.intake.records.values()
    assert record.request is None


def test_redaction_comes_before_the_intake(make_front: Any) -> None:
    """Nothing that is stored, queued or logged later has seen the address."""
    front = make_front(redaction=Redaction())
    item = RECORD | {"document": "Mail a.b@c.ie now.", "summary": "Mail a.b@c.ie."}
    messages = [{"role": "user", "content": "For x@y.org: Mail a.b@c.ie now."}]
    item["request"] = {"model": "m", "messages": messages}
    front.post("/v1/records", json.dumps(item), content_type=JSON)

    (record,) = front.intake.records.values()
    assert (record.document, record.summary) == ("Mail [EMAIL] now.", "Mail [EMAIL].")
    assert record.request.messages[0].content == "For [EMAIL]: Mail [EMAIL] now."


def test_a_silent_database_is_a_reason_to_retry(front: Any) -> None:
    """Nothing was taken, so the sender keeps it; the driver's words stay here, in the log."""
    front.intake.error = DatabaseUnavailable("postgresql://user:secret@host is down")
    with capture_logs() as logged:
        response = front.post("/v1/records", json.dumps(RECORD), content_type=JSON)

    assert [each["problem"] for each in logged] == [str(front.intake.error)]
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1
    assert "secret" not in response.text
    assert front.refusals == [503]


EVENT = {"specversion": "1.0", "id": "7", "source": "/news", "type": "summary"}


def test_a_structured_event_is_a_record(front: Any) -> None:
    """Its source and id identify it, where its data has no id of its own."""
    response = front.post(
        "/v1/cloudevents",
        json.dumps(EVENT | {"data": RECORD}),
        content_type="application/cloudevents+json",
    )

    assert response.json()["accepted"] == 1
    (record,) = front.intake.records.values()
    assert (record.id, record.service) == ("/news#7", "news")


def test_a_binary_event_is_a_record(front: Any) -> None:
    """Attributes in headers, the record as the body."""
    headers = {f"ce_{name}": told for name, told in EVENT.items()}
    data = {name: told for name, told in RECORD.items() if name != "service"}
    front.post("/v1/cloudevents", json.dumps(data), content_type=JSON, **headers)

    (record,) = front.intake.records.values()
    assert (record.id, record.service) == ("/news#7", "/news")


def test_a_batch_of_events_is_taken_together(front: Any) -> None:
    """Brokers deliver several at a time."""
    batch = [EVENT | {"id": str(i), "data": RECORD} for i in range(3)]
    response = front.post(
        "/v1/cloudevents", json.dumps(batch), content_type="application/cloudevents-batch+json"
    )

    assert response.json() == {"accepted": 3, "sampled": 3, "rejected": []}


@pytest.mark.parametrize("missing", ["id", "source", "specversion"])
def test_an_event_without_its_attributes_is_refused(front: Any, missing: str) -> None:
    """Without them it is no CloudEvent; the message names the one that is missing."""
    event = {name: told for name, told in EVENT.items() if name != missing}
    response = front.post(
        "/v1/cloudevents",
        json.dumps(event | {"data": RECORD}),
        content_type="application/cloudevents+json",
    )

    assert response.status_code == 400
    assert missing in response.json()["error"]
