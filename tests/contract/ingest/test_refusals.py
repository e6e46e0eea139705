"""Bodies that cannot be taken: the right status, a clear message, nothing broken."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.rpc.status_pb2 import Status

from monitor.errors import Overloaded

RECORD = {"document": "d", "summary": "s", "service": "x", "model": "m"}
TYPES = ["application/json", "application/x-protobuf"]
PATHS = ["/v1/traces", "/v1/logs"]


def _status(response: Any) -> Status:
    """The `google.rpc.Status` of an answer, from either encoding."""
    if response.headers["content-type"] == "application/x-protobuf":
        return Status.FromString(response.content)
    told = response.json()
    return Status(code=told["code"], message=told["message"])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", TYPES)
def test_a_body_that_is_no_otlp_is_bad_data(front: Any, path: str, kind: str) -> None:
    """400 tells the exporter not to retry; the body is a Status in the request's encoding."""
    response = front.post(path, b"\xff\xfenot otlp{", content_type=kind)

    assert response.status_code == 400
    assert response.headers["content-type"] == kind
    assert _status(response).code == 3
    assert "body" in _status(response).message
    assert front.refusals == [400]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'"text"',
        b'{"resourceSpans": {}}',
        b'{"resourceSpans": [5]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": ["SECRET"]}]}]}]}',
        b'{"resourceSpans": [{"resource": {"attributes": "SECRET"}, "scopeSpans": []}]}',
        b"[" * 100_000,
        b'{"resourceSpans": ' + b"[" * 100_000,
        b'{"resourceSpans": []} trailing',
        b'{"resourceSpans": ["' + b"\xff" * 10 + b'"]}',
    ],
)
def test_json_of_the_wrong_shape_is_bad_data(front: Any, body: bytes) -> None:
    """Also when nested so deep that a naive parser would crash; texts are not quoted back."""
    response = front.post("/v1/traces", body, content_type="application/json")

    assert response.status_code == 400
    assert "SECRET" not in response.text


@pytest.mark.parametrize("field", ["traceId", "spanId"])
@pytest.mark.parametrize("told", ["zz", "ab", "0" * 32, "ab" * 40, 5])
def test_a_span_with_a_bad_id_is_a_partial_success(front: Any, field: str, told: Any) -> None:
    """One broken span is no reason to lose the batch, and not to be retried either."""
    span = {"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "x"}
    spans = [span, span | {field: told}]
    request = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    response = front.post("/v1/traces", json.dumps(request), content_type="application/json")

    assert response.status_code == 200
    partial = response.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "id" in partial["errorMessage"]


@pytest.mark.parametrize("path", [*PATHS, "/v1/records", "/v1/cloudevents"])
@pytest.mark.parametrize("kind", ["text/plain", "", "application/grpc"])
def test_another_content_type_is_unsupported(front: Any, path: str, kind: str) -> None:
    """The message names what is supported."""
    response = front.post(path, b"{}", content_type=kind)

    assert response.status_code == 415
    assert "application/" in response.text


def test_another_encoding_is_unsupported(front: Any) -> None:
    """Only gzip is part of OTLP/HTTP."""
    response = front.post(
        "/v1/records", b"{}", content_type="application/json", content_encoding="br"
    )

    assert response.status_code == 415
    assert "gzip" in response.text


def test_gzip_is_inflated(front: Any, sample: Any) -> None:
    """Also in two members and in an empty body."""
    body = sample("captured_py_traceloop_traces0.pb")
    half = len(body) // 2
    packed = gzip.compress(body[:half]) + gzip.compress(body[half:])
    kind = {"content_type": "application/x-protobuf", "content_encoding": "gzip"}

    assert front.post("/v1/traces", packed, **kind).status_code == 200
    assert len(front.intake.records) == 2
    assert front.post("/v1/traces", b"", **kind).status_code == 200


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: packed[:-3],
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:-8] + bytes(8),
        lambda packed: packed + b"rubbish",
        lambda packed: b"no gzip at all",
    ],
)
def test_broken_gzip_is_bad_data(front: Any, spoil: Any) -> None:
    """Cut off, with a wrong checksum, followed by something, or none."""
    packed = spoil(gzip.compress(json.dumps(RECORD).encode()))
    response = front.post(
        "/v1/records", packed, content_type="application/json", content_encoding="gzip"
    )

    assert response.status_code == 400
    assert "gzip" in response.json()["error"]
    assert front.intake.records == {}


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """256 MiB of zeros in 256 KiB."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    zeros = bytes(2**20)
    return b"".join(packer.compress(zeros) for _ in range(256)) + packer.flush()


@pytest.mark.parametrize("path", [*PATHS, "/v1/records"])
def test_a_gzip_bomb_is_too_large(make_front: Any, bomb: bytes, path: str) -> None:
    """Refused at the limit, which counts after decompression; the rest is never inflated."""
    front = make_front(max_body=2**20)
    response = front.post(path, bomb, content_type="application/json", content_encoding="gzip")

    assert response.status_code == 413
    assert "http.max_body" in response.text


@pytest.mark.parametrize("announced", [True, False])
def test_a_large_body_is_refused_and_a_body_at_the_limit_taken(
    make_front: Any, announced: bool
) -> None:
    """The limit itself is allowed; without a length it is found while reading."""
    front = make_front(max_body=4096)

    async def in_pieces(body: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]

    def send(size: int) -> int:
        overhead = len(json.dumps(RECORD | {"document": ""}))
        body = json.dumps(RECORD | {"document": "d" * (size - overhead)}).encode()
        assert len(body) == size
        content = body if announced else in_pieces(body)
        response = front.post("/v1/records", content, content_type="application/json")
        return int(response.status_code)

    assert (send(4096), send(4097)) == (200, 413)


def test_too_many_records_are_refused_together(front: Any) -> None:
    """A list of rejections must not become larger than the body that caused it."""
    response = front.post("/v1/records", b"[" + b"0," * 30_000 + b"0]", content_type=TYPES[0])

    assert response.status_code == 400
    assert "several requests" in response.json()["error"]


@pytest.mark.parametrize("kind", TYPES)
def test_overload_asks_to_come_back(front: Any, sample: Any, kind: str) -> None:
    """503 with Retry-After is what OTLP exporters retry on."""
    front.intake.error = Overloaded("the queue is full", retry_after=12.2)
    suffix = "json" if kind == "application/json" else "pb"
    body = sample(f"captured_py_traceloop_traces0.{suffix}")
    response = front.post("/v1/traces", body, content_type=kind)

    assert (response.status_code, response.headers["retry-after"]) == (503, "13")
    assert _status(response).code == 14
    assert _status(response).message == "the queue is full"
