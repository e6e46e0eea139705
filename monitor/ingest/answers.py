"""Answers of the ingest endpoints: OTLP's in the request's encoding, JSON elsewhere."""

from __future__ import annotations

import math
from dataclasses import asdict

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.responses import JSONResponse, Response

from monitor.ingest.sighting import Decoded
from monitor.ingest.submission import Submission

PROTOBUF = "application/x-protobuf"
JSON = "application/json"

_INVALID_ARGUMENT, _RESOURCE_EXHAUSTED, _UNAVAILABLE = 3, 8, 14
_GRPC_CODES = {413: _RESOURCE_EXHAUSTED, 429: _RESOURCE_EXHAUSTED, 503: _UNAVAILABLE}


def traces_taken(decoded: Decoded, *, content_type: str) -> Response:
    """The success of an export of spans; `partial_success` only where some were rejected."""
    message = ExportTraceServiceResponse()
    if decoded.rejected:
        message.partial_success.rejected_spans = decoded.rejected
        message.partial_success.error_message = decoded.problem
    return _encoded(message, 200, content_type)


def logs_taken(decoded: Decoded, *, content_type: str) -> Response:
    """The success of an export of log records, as for spans."""
    message = ExportLogsServiceResponse()
    if decoded.rejected:
        message.partial_success.rejected_log_records = decoded.rejected
        message.partial_success.error_message = decoded.problem
    return _encoded(message, 200, content_type)


def export_refused(
    status: int, message: str, *, content_type: str, retry_after: float | None = None
) -> Response:
    """A refused export: a `google.rpc.Status`, with `Retry-After` where a retry makes sense."""
    detail = Status(code=_GRPC_CODES.get(status, _INVALID_ARGUMENT), message=message)
    response = _encoded(detail, status, content_type)
    _set_retry_after(response, retry_after)
    return response


def submission_taken(submission: Submission, *, sampled: int) -> Response:
    """What became of the posted records, one entry for each that was rejected."""
    return JSONResponse(
        {
            "accepted": len(submission.records) + submission.replays,
            "sampled": sampled,
            "rejected": [asdict(rejection) for rejection in submission.rejected],
        }
    )


def submission_refused(status: int, message: str, *, retry_after: float | None = None) -> Response:
    """A refused body of records."""
    response = JSONResponse({"error": message}, status_code=status)
    _set_retry_after(response, retry_after)
    return response


def _encoded(message: Message, status: int, content_type: str) -> Response:
    if content_type == PROTOBUF:
        content = message.SerializeToString()
    else:
        content = json_format.MessageToJson(message, indent=None).encode()
    return Response(content, status_code=status, media_type=content_type)


def _set_retry_after(response: Response, seconds: float | None) -> None:
    if seconds is not None:
        response.headers["Retry-After"] = str(max(1, math.ceil(seconds)))
