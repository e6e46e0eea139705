"""From a sighted call to the record that is scored."""

from __future__ import annotations

from datetime import datetime

from monitor.ingest.call import GenAiCall
from monitor.ingest.extraction import Extraction
from monitor.ingest.sighting import Sighting
from monitor.ingest.text import name_of, storable, storable_values
from monitor.records import CapturedRequest, IncomingRecord, Message, Reason

UNKNOWN_MODEL = "unknown"


def record_of(
    sighting: Sighting, *, extraction: Extraction, received_at: datetime
) -> IncomingRecord | Reason:
    """The record of a call, or why there is none.

    The id is made of trace and span id, so a call that is sent twice, in whatever
    encoding, is one record. The first choice is the summary, the others are alternatives.
    """
    call = sighting.call
    if call.error is not None and not call.answered:
        return Reason.TRANSPORT_ERROR
    if call.oversized:
        return Reason.TOO_LONG
    if call.calls_tool:
        return Reason.TOOL_CALL
    if not call.messages or not call.choices or call.choices[0].text is None:
        return Reason.CONTENT_MISSING
    messages = tuple(
        Message(role=storable(message.role), content=storable(message.content))
        for message in call.messages
    )
    document = extraction.document(messages)
    if isinstance(document, Reason):
        return document
    first, *spare = (choice for choice in call.choices if choice.text is not None)
    return IncomingRecord(
        id=f"{sighting.trace_id}-{sighting.span_id}",
        document=document,
        summary=storable(first.text or ""),
        service=sighting.service,
        model=name_of(call.response_model or call.requested_model or UNKNOWN_MODEL),
        received_at=received_at,
        release=sighting.release,
        trace_id=sighting.trace_id if sighting.traced else None,
        span_id=sighting.span_id if sighting.traced else None,
        started_at=sighting.started_at,
        request=_request(call, messages),
        alternatives=tuple(
            storable(choice.text) for choice in spare if choice.text and not choice.is_tool_call
        ),
        upstream_probability=sighting.upstream_probability,
    )


def _request(call: GenAiCall, messages: tuple[Message, ...]) -> CapturedRequest | None:
    model = call.requested_model or call.response_model
    if model is None:
        return None
    parameters = storable_values(call.parameters)
    return CapturedRequest(messages=messages, model=storable(model), parameters=parameters)
