"""What the front weighs: libraries that it never loads, and memory that it never takes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

HEAVY = (
    "gensim",
    "lime",
    "matplotlib",
    "ot",
    "pandas",
    "ray",
    "scipy",
    "sentence_transformers",
    "shap",
    "spacy",
    "torch",
    "transformers",
)
MAX_BODY = 16 * 2**20
MB = 1_000_000
TEXT = "The council of the harbour town approved the budget for the new bridge on Monday. "

linux = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the kernel counts no peak memory here"
)


@pytest.mark.parametrize("module", ["monitor.app", "monitor.cli"])
def test_importing_the_front_loads_no_heavy_library(module: str) -> None:
    """Each of them costs more memory and time than the whole front may take."""
    script = f"import sys, {module}; print(*sorted({set(HEAVY)!r} & sys.modules.keys()))"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == []


def _filled(count: int, size: int) -> str:
    """A document for each of `count` records, so that all together have nearly `size` bytes."""
    return TEXT * ((size // count - 800) // len(TEXT))


def _records(count: int) -> bytes:
    document = _filled(count, MAX_BODY)
    record = {"document": document, "summary": "It did.", "service": "s", "model": "m"}
    return json.dumps([record] * count).encode()


def _spans(count: int) -> list[dict[str, Any]]:
    prompt = "Summarise the following article.\n\n" + _filled(count, MAX_BODY)
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": prompt}]}]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "It did."}]}]
        ),
    }
    told = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    return [
        {
            "traceId": f"{n + 1:032x}",
            "spanId": f"{n + 1:016x}",
            "name": "chat m",
            "attributes": told,
        }
        for n in range(count)
    ]


def _otlp_json(count: int) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": _spans(count)}]}]}).encode()


def _otlp_protobuf(count: int) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for told in _spans(count):
        span = scope.spans.add()
        span.trace_id = bytes.fromhex(told["traceId"])
        span.span_id = bytes.fromhex(told["spanId"])
        span.name = told["name"]
        for item in told["attributes"]:
            attribute = span.attributes.add(key=item["key"])
            attribute.value.string_value = item["value"]["stringValue"]
    return bytes(request.SerializeToString())


@linux
@pytest.mark.parametrize(
    ("path", "content_type", "made"),
    [
        ("/v1/traces", "application/x-protobuf", _otlp_protobuf),
        ("/v1/traces", "application/json", _otlp_json),
        ("/v1/records", "application/json", _records),
    ],
)
def test_the_front_stays_small_while_the_greatest_body_comes_in(
    make_sidecar: Any, path: str, content_type: str, made: Callable[[int], bytes]
) -> None:
    """It shares a pod with the service; the kernel would kill whichever of them is larger.

    Thousands of small records and one huge one need memory in different places, and a
    compressed body arrives at once.
    """
    front = make_sidecar()
    front.post_records({"document": "d", "summary": "s", "service": "s", "model": "m"})
    assert front.resident_bytes() < 150 * MB

    front.forget_peak()
    for count in (2_000, 1):
        body = made(count)
        assert 0.9 * MAX_BODY < len(body) <= MAX_BODY
        assert front.post(path, body, content_type).status_code == 200
    packed = gzip.compress(body, 1)
    assert front.post(path, packed, content_type, content_encoding="gzip").status_code == 200
    assert front.peak_bytes() < 300 * MB

    loaded = Path(f"/proc/{front.process.pid}/maps").read_text()
    assert [name for name in HEAVY if f"/site-packages/{name}/" in loaded] == []
    front.close()
