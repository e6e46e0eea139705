"""Which switch of a client turns the content of prompts and answers on."""

from __future__ import annotations

KSERVE = "kserve.logger"
_STANDARD = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SWITCHES = (
    # Prefix of the instrumentation scope, and what to set in the service's environment.
    (
        "opentelemetry.util.genai",
        f"{_STANDARD}=SPAN_ONLY with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    ),
    ("opentelemetry.instrumentation.openai_v2", f"{_STANDARD}=true, and export logs too"),
    ("@opentelemetry/instrumentation-openai", f"{_STANDARD}=true, and export logs too"),
    ("opentelemetry.instrumentation.", "TRACELOOP_TRACE_CONTENT=true"),
    ("@traceloop/", "TRACELOOP_TRACE_CONTENT=true"),
    (
        "openinference.",
        "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false",
    ),
    (
        "@arizeai/openinference",
        "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false",
    ),
)


def missing_answer(scope: str) -> str:
    """What to change where calls come without their texts."""
    if scope == KSERVE:
        return "set logger.mode to `all`; calls with a status other than 200 have no answer"
    return f"set {content_switch(scope)} in the service's environment"


def missing_call(scope: str) -> str:
    """What to change where texts come without their calls."""
    if scope == KSERVE:
        return "set logger.mode to `all`: only the request tells whether it is a replay"
    return (
        "send the service's traces here too: only the span of a call tells whether it is a replay"
    )


def content_switch(scope: str) -> str:
    """What to set so that this instrumentation sends content.

    >>> content_switch("opentelemetry.instrumentation.openai.v1")
    'TRACELOOP_TRACE_CONTENT=true'
    """
    for prefix, switch in _SWITCHES:
        if scope.startswith(prefix):
            return switch
    return f"{_STANDARD}=true"
