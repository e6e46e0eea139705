"""Which calls become records, and why the others do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.ingest.call import Choice, GenAiCall
from monitor.ingest.capture import record_of
from monitor.ingest.extraction import Extraction
from monitor.ingest.sighting import Sighting
from monitor.records import IncomingRecord, Message, Reason

CALL = GenAiCall(
    requested_model="asked",
    response_model="answered",
    messages=(Message(role="user", content="Summarise this text.\n\nA\x00 man."),),
    choices=(Choice(text="A."), Choice(text="B."), Choice(text=None), Choice(text="")),
)
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def _outcome(call: GenAiCall) -> IncomingRecord | Reason:
    sighting = Sighting(
        trace_id="ab" * 16,
        span_id="cd" * 8,
        span=True,
        service="s",
        release="1",
        scope="x",
        call=call,
        upstream_probability=0.5,
    )
    return record_of(sighting, extraction=Extraction(), received_at=NOW)


def test_a_complete_call_is_a_record() -> None:
    """Spare choices are alternatives; the document is found after NUL was replaced."""
    record = _outcome(CALL)

    assert isinstance(record, IncomingRecord)
    assert record.id == f"{'ab' * 16}-{'cd' * 8}"
    assert (record.document, record.summary, record.alternatives) == ("A\ufffd man.", "A.", ("B.",))
    assert (record.model, record.upstream_probability) == ("answered", 0.5)
    assert record.request is not None
    assert record.request.model == "asked"
    assert record.document in record.request.messages[0].content


def test_a_parameter_that_no_json_can_hold_is_left_out() -> None:
    """An exporter sends NaN without complaint; stored, it would cost the whole batch."""
    nan, inf = float("nan"), float("inf")
    told = {"temperature": nan, "seed": 7, "logit_bias": {"5": -inf, "6": 1.5}, "stop": [nan, "x"]}
    record = _outcome(replace(CALL, parameters=told))

    assert isinstance(record, IncomingRecord)
    assert record.request is not None
    assert record.request.parameters == {"seed": 7, "logit_bias": {"6": 1.5}, "stop": ["x"]}


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (replace(CALL, messages=None), Reason.CONTENT_MISSING),
        (replace(CALL, messages=None, oversized=True), Reason.TOO_LONG),
        (replace(CALL, choices=None), Reason.CONTENT_MISSING),
        (replace(CALL, choices=(Choice(text=None),)), Reason.CONTENT_MISSING),
        (replace(CALL, choices=None, error="Timeout"), Reason.TRANSPORT_ERROR),
        (replace(CALL, choices=(Choice(text="", calls_tool=True),)), Reason.TOOL_CALL),
        (replace(CALL, choices=None, finish_reasons=("tool_calls",)), Reason.TOOL_CALL),
        (replace(CALL, messages=(Message(role="user", content=""),)), Reason.EMPTY_DOCUMENT),
        (
            replace(CALL, messages=(*(CALL.messages or ()), Message(role="tool", content="x"))),
            Reason.DOCUMENT_NOT_LAST,
        ),
    ],
)
def test_other_calls_have_a_reason(call: GenAiCall, reason: Reason) -> None:
    """Each is counted under its own name, so that an operator sees what to change."""
    assert _outcome(call) is reason


def test_an_empty_answer_is_a_record() -> None:
    """The model said nothing: that is a result, and the scorer gives its reason."""
    record = _outcome(replace(CALL, choices=(Choice(text=""),)))

    assert isinstance(record, IncomingRecord)
    assert record.summary == ""
