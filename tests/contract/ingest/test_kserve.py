"""KServe's inference logger: a request and its response, joined by their id."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from monitor.records import Reason
from monitor.replays import REQUEST_ID
from monitor.summarization.replay import trace_headers

DOCUMENT = "The council approved the new bridge on Monday."
REQUEST = {
    "model": "llama",
    "temperature": 0.2,
    "messages": [{"role": "user", "content": f"Summarise the following article.\n\n{DOCUMENT}"}],
}
RESPONSE = {
    "model": "llama-3",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It was approved."}}],
}
STREAM = (
    'data: {"model": "llama-3", "choices": [{"index": 0, "delta": {"content": "It was "}}]}\n\n'
    'data: {"choices": [{"index": 0, "delta": {"content": "approved."}}]}\n\n'
    "data: [DONE]\n\n"
)


def log(front: Any, half: str, body: Any, *, id: str = "7", **headers: str) -> httpx.Response:
    """One event, as the logger sends it: the response has the content type of the request."""
    attributes = {
        "ce_specversion": "1.0",
        "ce_id": id,
        "ce_type": f"org.kubeflow.serving.inference.{half}",
        "ce_source": "http://localhost:9081/",
        "ce_inferenceservicename": "news",
        "ce_namespace": "default",
        "ce_component": "predictor",
        "ce_endpoint": "",
        "ce_time": "2026-11-30T07:59:59.501752983Z",
        "content_type": "application/json",
    }
    content = body if isinstance(body, str) else json.dumps(body)
    answer: httpx.Response = front.post("/v1/cloudevents", content, **attributes | headers)
    return answer


@pytest.mark.parametrize("halves", [("request", "response"), ("response", "request")])
def test_both_halves_make_one_record(front: Any, halves: tuple[str, str]) -> None:
    """In either order: the logger's workers send in parallel."""
    bodies = {"request": REQUEST, "response": RESPONSE}
    for half in halves:
        assert log(front, half, bodies[half]).status_code == 200
    (record,) = front.intake.records.values()
    assert record.document == DOCUMENT
    assert record.summary == "It was approved."
    assert (record.service, record.model) == ("news", "llama-3")
    assert record.request.parameters == {"temperature": 0.2}
    assert record.started_at.isoformat() == "2026-11-30T07:59:59.501752+00:00"
    # Not those of a trace: nobody would find it.
    assert (record.trace_id, record.span_id) == (None, None)


def test_an_event_that_is_sent_again_is_the_same_record(front: Any) -> None:
    """Brokers deliver at least once."""
    for half, body in (("request", REQUEST), ("response", RESPONSE), ("request", REQUEST)):
        log(front, half, body)
    front.wait(60)
    assert len(front.intake.records) == 1
    assert not front.intake.reasons


def test_a_streamed_answer_is_put_together(front: Any) -> None:
    """The logger keeps the bytes of the stream."""
    log(front, "request", REQUEST | {"stream": True})
    log(front, "response", STREAM)
    (record,) = front.intake.records.values()
    assert record.summary == "It was approved."


def test_instances_and_predictions_of_one_text_are_taken(front: Any) -> None:
    """KServe's own protocol, in which its Hugging Face server summarizes."""
    log(
        front,
        "request",
        {"instances": [DOCUMENT]},
        content_type="application/x-www-form-urlencoded",
    )
    log(front, "response", {"predictions": ["It was approved."]})
    (record,) = front.intake.records.values()
    assert (record.document, record.summary, record.model) == (DOCUMENT, "It was approved.", "news")


@pytest.mark.parametrize(
    ("request_body", "response_body"),
    [
        ({"instances": [DOCUMENT, DOCUMENT]}, {"predictions": ["a", "b"]}),
        ({"instances": [[1.0, 2.0]]}, {"predictions": [1]}),
        ({"inputs": []}, {"outputs": []}),
    ],
)
def test_calls_that_are_no_summaries_are_counted(
    front: Any, request_body: Any, response_body: Any
) -> None:
    """A cluster logs other models, too."""
    log(front, "request", request_body)
    log(front, "response", response_body)
    front.wait(31)
    assert not front.intake.records
    assert front.intake.reasons == {Reason.CONTENT_MISSING: 1}


def test_an_error_in_the_answer_is_counted(front: Any) -> None:
    """Some servers tell it with status 200."""
    log(front, "request", REQUEST)
    log(front, "response", {"error": {"type": "overloaded", "message": "later"}})
    assert front.intake.reasons == {Reason.TRANSPORT_ERROR: 1}


def test_a_request_without_a_response_is_counted_and_told(front: Any) -> None:
    """The logger sends no response whose status is not 200."""
    log(front, "request", REQUEST)
    front.wait(31)
    assert front.intake.reasons == {Reason.CONTENT_MISSING: 1}
    [told] = front.gathering.content_missing
    assert told.service == "news"
    assert "logger.mode" in told.remedy
    assert "200" in told.remedy


def test_a_response_without_a_request_is_counted_and_told(front: Any) -> None:
    """With `logger.mode: response` nothing is known of the document."""
    log(front, "response", RESPONSE)
    front.wait(31)
    assert front.intake.reasons == {Reason.SPAN_MISSING: 1}
    assert "logger.mode" in front.gathering.content_missing[0].remedy


@pytest.mark.parametrize("halves", [("request", "response"), ("response", "request")])
def test_a_replay_of_our_own_is_ignored(front: Any, halves: tuple[str, str]) -> None:
    """It carries the id that KServe takes over; else every score would ask for more scores."""
    ours = trace_headers("00")["ce-id"]
    assert ours.startswith(REQUEST_ID)
    bodies = {"request": REQUEST, "response": RESPONSE}
    for half in halves:
        log(front, half, bodies[half], id=ours)
    front.wait(31)
    assert not front.intake.records
    assert not front.intake.reasons
    assert front.intake.replays == 1


def test_a_replay_is_known_by_its_logged_headers(front: Any) -> None:
    """Where a proxy gives requests ids of its own and `metadataHeaders` names Tracestate."""
    metadata = json.dumps({"Tracestate": ["vendor=1,hss=replay"]})
    log(front, "request", REQUEST, ce_metadata=metadata)
    log(front, "response", RESPONSE, ce_metadata=metadata)
    assert not front.intake.records
    assert front.intake.replays == 1


def test_headers_that_tell_nothing_cost_no_record(front: Any) -> None:
    """A time that UTC does not have, and logged headers that nobody can read, are passed over."""
    odd = {"ce_time": "0001-01-01T00:00:00+10:00", "ce_metadata": "[" * 20_000}
    log(front, "request", REQUEST, **odd)
    log(front, "response", RESPONSE)
    (record,) = front.intake.records.values()
    assert (record.document, record.started_at) == (DOCUMENT, None)


@pytest.mark.parametrize("component", ["transformer", "predictor"])
def test_components_of_one_service_are_kept_apart(front: Any, component: str) -> None:
    """A transformer in front of a predictor logs the same id with another body."""
    log(front, "request", REQUEST, ce_component=component)
    log(front, "response", RESPONSE, ce_component="explainer")
    front.wait(31)
    assert not front.intake.records


@pytest.mark.parametrize(
    ("body", "headers", "named"),
    [
        ("{", {}, "body"),
        ("[1]", {}, "body"),
        (REQUEST, {"ce_inferenceservicename": ""}, "ce-inferenceservicename"),
        (REQUEST, {"ce_id": ""}, "ce-id"),
    ],
)
def test_a_wrong_event_is_refused(front: Any, body: Any, headers: Any, named: str) -> None:
    """With 400, and what is wrong with it."""
    answer = log(front, "request", body, **headers)
    assert answer.status_code == 400
    assert named in answer.json()["error"]
    assert front.refusals == [400]
