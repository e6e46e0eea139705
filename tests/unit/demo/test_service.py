"""The demo's service, its spans, and its life as a process."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from monitor.demo.releases import Release, good
from monitor.demo.service import create_app
from monitor.demo.spans import CallSpans
from monitor.demo.traffic import TrafficGenerator

ARTICLE = "Crews from Gunning fought 12 fires near Sydney. The chief praised them. They left. Rain."


def ask(**changes):
    return {
        "model": "m",
        "messages": [{"role": "user", "content": f"Summarise this.\n\n{ARTICLE}"}],
        **changes,
    }


@pytest.fixture
def exported():
    return InMemorySpanExporter()


@pytest.fixture
def client(exported):
    app = create_app(exporter=lambda: exported, release=Release.GOOD, stock=["Other sentence."])
    with TestClient(app) as client:
        yield client


def spans_of(client, exported):
    """Spans are sent when the service ends."""
    client.__exit__(None, None, None)
    return exported.get_finished_spans()


def test_it_answers_like_openai(client):
    """So that any client of OpenAI's can be pointed at it."""
    answer = client.post("/v1/chat/completions", json=ask(n=2)).json()
    assert answer["object"] == "chat.completion"
    assert [choice["message"]["content"] for choice in answer["choices"]] == [good(ARTICLE)] * 2
    assert answer["usage"]["total_tokens"] > 20


def test_the_instruction_is_not_summarized(client):
    """The document begins after the first paragraph."""
    answer = client.post("/v1/chat/completions", json=ask()).json()
    assert "Summarise" not in answer["choices"][0]["message"]["content"]


def test_a_release_is_switched_live(client):
    """The demo's bad release comes without a restart."""
    before = client.post("/v1/chat/completions", json=ask()).json()
    assert client.post("/release", json={"release": "bad"}).json() == {"release": "bad"}
    assert client.get("/healthz").json() == {"status": "ok", "release": "bad"}
    after = client.post("/v1/chat/completions", json=ask()).json()
    assert before["choices"] != after["choices"]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/chat/completions", {"messages": []}, "model"),
        ("/v1/chat/completions", ask(messages=[]), "messages"),
        ("/v1/chat/completions", ask(messages=[{"role": "user", "content": []}]), "messages"),
        ("/v1/chat/completions", ask(stream=True), "stream"),
        ("/v1/chat/completions", ask(n=0), "'n|n:"),
        ("/v1/chat/completions", [], "body"),
        ("/release", {"release": "worse"}, "release"),
        ("/release", {"release": ["bad"]}, "release"),
    ],
)
def test_wrong_requests_are_refused_as_openai_does(client, path, body, field):
    """With the name of the field, and no span."""
    answer = client.post(path, json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert any(name in answer.json()["error"]["message"] for name in field.split("|"))


def test_a_call_leaves_one_span_with_the_content_as_json(client, exported):
    """Names and encodings as in what real instrumentations send."""
    messages = [{"role": "system", "content": "Be brief."}, *ask()["messages"]]
    client.post("/v1/chat/completions", json=ask(messages=messages, temperature=0.2))
    (span,) = spans_of(client, exported)
    assert (span.name, span.kind) == ("chat m", SpanKind.CLIENT)
    told = dict(span.attributes)
    assert json.loads(told.pop("gen_ai.input.messages")) == [
        {
            "role": "user",
            "parts": [{"type": "text", "content": f"Summarise this.\n\n{ARTICLE}"}],
        }
    ]
    assert json.loads(told.pop("gen_ai.output.messages")) == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": good(ARTICLE)}],
            "finish_reason": "stop",
        }
    ]
    assert json.loads(told.pop("gen_ai.system_instructions")) == [
        {"type": "text", "content": "Be brief."}
    ]
    assert told.pop("gen_ai.response.id").startswith("chatcmpl-")
    assert told.pop("gen_ai.usage.input_tokens") > 20
    assert told.pop("gen_ai.usage.output_tokens") > 5
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.response.finish_reasons": ("stop",),
    }


def test_attribute_names_are_those_of_a_captured_client():
    """Everything here that is not in the capture is in the conventions it follows."""
    path = Path("../shared/otlp/captured_py_v2_span_content_traces0.json")
    if not path.exists():
        pytest.skip(f"no sample at {path}: it lies outside the repository")
    scopes = json.loads(path.read_text())["resourceSpans"][0]["scopeSpans"]
    captured = {entry["key"] for entry in scopes[0]["spans"][0]["attributes"]}
    from monitor.demo.service import completion
    from monitor.demo.spans import attributes

    asked = ask(temperature=0.2, max_tokens=200)
    assert attributes(asked, completion(asked, "A text.")).keys() == captured - {
        "openai.response.system_fingerprint"
    }


def test_the_release_is_the_service_version():
    """By which the monitor tells since when it is bad; the first release's spans are kept."""
    exporters = []

    def exporter():
        exporters.append(InMemorySpanExporter())
        return exporters[-1]

    app = create_app(exporter=exporter, release=Release.GOOD, stock=["Other sentence."])
    with TestClient(app) as client:
        client.post("/v1/chat/completions", json=ask())
        client.post("/release", json={"release": "consistent"})
        client.post("/v1/chat/completions", json=ask())
    resources = [span.resource for it in exporters for span in it.get_finished_spans()]
    assert [
        (resource.attributes["service.name"], resource.attributes["service.version"])
        for resource in resources
    ] == [("demo-summarizer", "good"), ("demo-summarizer", "consistent")]


def test_the_callers_trace_is_continued(client, exported):
    """With its state: that is how a replay is known again."""
    headers = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01", "tracestate": "hss=replay"}
    client.post("/v1/chat/completions", json=ask(), headers=headers)
    (span,) = spans_of(client, exported)
    assert format(span.context.trace_id, "032x") == "ab" * 16
    assert format(span.parent.span_id, "016x") == "cd" * 8
    assert span.context.trace_state.to_header() == "hss=replay"


def test_an_unsampled_caller_leaves_no_span(client, exported):
    """As everywhere in OpenTelemetry: the flag is the caller's wish."""
    headers = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-00"}
    client.post("/v1/chat/completions", json=ask(), headers=headers)
    assert spans_of(client, exported) == ()


def test_spans_wait_in_a_queue_that_the_demo_does_not_fill(exported):
    """Every call of the demo is counted in the end: none may be dropped."""
    spans = CallSpans(lambda: exported)
    from monitor.demo.service import completion

    for _ in range(3000):
        spans.record(
            release="good",
            headers={},
            started=1,
            ended=2,
            request=ask(),
            response=completion(ask(), "A text."),
        )
    spans.flush()
    spans.close()
    assert len(exported.get_finished_spans()) == 3000


@contextlib.contextmanager
def receiver():
    """A collector that keeps what it is sent."""
    bodies: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            bodies.append((f"{self.path} {self.headers['content-type']}", body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_the_process_serves_and_sends_its_spans_before_it_ends():
    """Traffic from real articles, protobuf over HTTP, nothing said on standard error."""
    with receiver() as (otlp, bodies):
        port = free_port()
        command = [sys.executable, "-W", "error", "-m", "monitor.demo.service"]
        process = subprocess.Popen(
            [*command, "--port", str(port), "--otlp", otlp, "--release", "bad"],
            stderr=subprocess.PIPE,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + 20
            while time.monotonic() < until:
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"{url}/healthz").status_code == 200:
                        break
                time.sleep(0.05)
            with TrafficGenerator(url, [ARTICLE, ARTICLE[:50]]) as traffic:
                results = traffic.send(5)
        finally:
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=20)
        assert [result.status for result in results] == [200] * 5
        assert told == b""
    assert {path for path, _ in bodies} == {"/v1/traces application/x-protobuf"}
    spans = [
        span
        for _, body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert sorted(span.trace_id.hex() for span in spans) == sorted(
        result.trace_id for result in results
    )


def test_the_service_loads_no_model_library():
    """It stands for somebody else's service; it should start at once."""
    script = (
        "import sys, monitor.demo.service, monitor.demo.traffic\n"
        "from monitor.demo.news import news_documents\n"
        "news_documents()\n"
        "print(sorted({'torch','spacy','scipy','gensim','numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
