"""The spans of the demo's service, as an instrumented OpenAI client would write them.

The real OpenTelemetry SDK continues the caller's trace context and sends over OTLP/HTTP;
attribute names and encodings are those of the GenAI conventions (content as JSON strings).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from monitor.demo.releases import SERVICE

_QUEUE = 16_384
"""Spans kept while the receiver is busy: the demo counts every one of them."""

ExporterFactory = Callable[[], SpanExporter]

_REQUESTED = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
    "seed": "gen_ai.request.seed",
}


def otlp(base_url: str) -> ExporterFactory:
    """Exporters that post protobuf to `{base_url}/v1/traces`."""
    return lambda: OTLPSpanExporter(endpoint=f"{base_url.rstrip('/')}/v1/traces", timeout=10)


class CallSpans:
    """Writes one `chat <model>` span a call, under a resource that names the release.

    A call whose trace context says `not sampled` leaves no span, as everywhere in
    OpenTelemetry; one without a context begins a trace. A resource cannot change, so each
    release has a tracer provider of its own.
    """

    def __init__(self, exporter: ExporterFactory) -> None:
        self._exporter = exporter
        self._providers: dict[str, TracerProvider] = {}

    def record(
        self,
        *,
        release: str,
        headers: Mapping[str, str],
        started: int,
        ended: int,
        request: Mapping[str, Any],
        response: Mapping[str, Any],
    ) -> None:
        """Write the span of a call; `started` and `ended` in nanoseconds since 1970."""
        span = (
            self._provider(release)
            .get_tracer("monitor.demo.service")
            .start_span(
                f"chat {request['model']}",
                context=TraceContextTextMapPropagator().extract(headers),
                kind=SpanKind.CLIENT,
                start_time=started,
                attributes=attributes(request, response),
            )
        )
        span.end(end_time=ended)

    def flush(self) -> None:
        """Send what is waiting; returns when it was sent or given up."""
        for provider in self._providers.values():
            provider.force_flush()

    def close(self) -> None:
        """Send what is waiting and end the exporters' threads."""
        for provider in self._providers.values():
            provider.shutdown()
        self._providers.clear()

    def _provider(self, release: str) -> TracerProvider:
        if release not in self._providers:
            provider = TracerProvider(
                sampler=ParentBased(ALWAYS_ON),
                resource=Resource.create({"service.name": SERVICE, "service.version": release}),
                span_limits=SpanLimits(max_span_attribute_length=SpanLimits.UNSET),
                shutdown_on_exit=True,
            )
            provider.add_span_processor(
                BatchSpanProcessor(
                    self._exporter(),
                    max_queue_size=_QUEUE,
                    max_export_batch_size=64,
                    schedule_delay_millis=200,
                )
            )
            self._providers[release] = provider
        return self._providers[release]


def attributes(
    request: Mapping[str, Any], response: Mapping[str, Any]
) -> dict[str, AttributeValue]:
    """The GenAI attributes of a chat call, from its request and response."""
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    system = [
        part for it in messages if it["role"] in {"system", "developer"} for part in _parts(it)
    ]
    asked = [
        {"role": message["role"], "parts": _parts(message)}
        for message in messages
        if message["role"] not in {"system", "developer"}
    ]
    answered = [
        {
            "role": "assistant",
            "parts": _parts(choice["message"]),
            "finish_reason": choice["finish_reason"],
        }
        for choice in response["choices"]
    ]
    told: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": request["model"],
        "gen_ai.response.model": response["model"],
        "gen_ai.response.id": response["id"],
        "gen_ai.response.finish_reasons": [
            choice["finish_reason"] for choice in response["choices"]
        ],
        "gen_ai.usage.input_tokens": response["usage"]["prompt_tokens"],
        "gen_ai.usage.output_tokens": response["usage"]["completion_tokens"],
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(answered),
    }
    if system:
        told["gen_ai.system_instructions"] = json.dumps(system)
    for name, attribute in _REQUESTED.items():
        if isinstance(request.get(name), int | float):
            told[attribute] = request[name]
    return told


def _parts(message: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"type": "text", "content": message["content"]}]
