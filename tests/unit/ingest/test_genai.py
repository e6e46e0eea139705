"""GenAI attributes and events as calls, in every dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitor.ingest import genai
from monitor.ingest.call import Choice, GenAiCall
from monitor.records import Message

PROMPT = (Message(role="system", content="Be brief."), Message(role="user", content="A text."))
ANSWER = (Choice(text="A."),)
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
INPUT = [
    {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
    {"role": "user", "parts": [{"type": "text", "content": "A text."}]},
]
OUTPUT = [{"role": "assistant", "parts": [{"type": "text", "content": "A."}]}]


def _span(attributes: dict[str, Any], *events: genai.Event, failed: bool = False) -> GenAiCall:
    call = genai.of_span(attributes, events=events, failed=failed)
    assert call is not None
    return call


@pytest.mark.parametrize(
    "content",
    [
        {
            "gen_ai.input.messages": json.dumps(INPUT),
            "gen_ai.output.messages": json.dumps(OUTPUT),
        },
        {"gen_ai.input.messages": INPUT, "gen_ai.output.messages": OUTPUT},
        {
            "gen_ai.system_instructions": json.dumps(INPUT[0]["parts"]),
            "gen_ai.input.messages": json.dumps(INPUT[1:]),
            "gen_ai.output.messages": json.dumps(OUTPUT),
        },
        {
            "gen_ai.prompt.1.content": "A text.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.completion.0.content": "A.",
        },
        {
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.10.content": '[{"type": "text", "text": "A text."}]',
            "gen_ai.prompt.10.role": "user",
            "gen_ai.completion.0.content": "A.",
        },
        {
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.contents.0.message_content.type": "text",
            "llm.input_messages.1.message.contents.0.message_content.text": "A text.",
            "llm.input_messages.1.message.contents.1.message_content.type": "image",
            "llm.output_messages.0.message.content": "A.",
        },
        {
            "input.value": json.dumps(
                {
                    "model": "m",
                    "messages": [
                        {"role": "system", "content": "Be brief."},
                        {"role": "user", "content": "A text."},
                    ],
                }
            ),
            "output.value": json.dumps({"choices": [{"message": {"content": "A."}}]}),
        },
    ],
    ids=["json", "structured", "instructions", "flat", "flat-parts", "openinference", "values"],
)
def test_every_dialect_gives_the_same_call(content: dict[str, Any]) -> None:
    """The dialects differ in spelling only."""
    call = _span(CHAT | content)

    assert call.messages == PROMPT
    assert call.choices == ANSWER
    assert call.requested_model == "m"


def test_events_of_a_span_are_read_like_log_events() -> None:
    """Some clients write the messages onto the span, as JSON in one attribute."""
    events = [
        genai.Event(name=f"gen_ai.{kind}", attributes={"gen_ai.event.content": json.dumps(content)})
        for kind, content in (
            ("system.message", {"content": "Be brief."}),
            ("user.message", {"content": "A text."}),
            ("choice", {"index": 0, "message": {"content": "A."}}),
        )
    ]

    call = _span(CHAT, *events)
    assert (call.messages, call.choices) == (PROMPT, ANSWER)
    twice = CHAT | {"gen_ai.input.messages": INPUT, "gen_ai.output.messages": OUTPUT}
    assert _span(twice, *events).messages == PROMPT, "content in both places counts once"


def test_events_without_content_tell_nothing() -> None:
    """With the switch off the events still come, empty: that is not an empty document."""
    user = genai.of_event(genai.Event(name="gen_ai.user.message", attributes={}, body=None))
    body = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"}}
    choice = genai.of_event(genai.Event(name="gen_ai.choice", attributes={}, body=body))

    assert user is not None
    assert choice is not None
    assert not user.followed_by(choice).complete


def test_reasoning_and_tool_parts_are_told_apart() -> None:
    """Examples of the conventions: reasoning is no summary, a tool call is no text."""
    path = Path(__file__).resolve().parents[4] / "shared/otlp/repo_semconv_message_examples.json"
    if not path.exists():
        pytest.skip(f"the telemetry samples are not at {path.parent}")
    examples = json.loads(path.read_text())

    def output(name: str) -> Choice:
        call = _span(CHAT | {"gen_ai.output.messages": json.dumps(examples[name])})
        assert call.choices is not None
        return call.choices[0]

    assert (output("reasoning.output").text or "").startswith(" Why did the developer")
    assert output("simple.output") == output("reasoning.output")
    assert output("tool.output").is_tool_call
    turns = _span(CHAT | {"gen_ai.input.messages": examples["tool.input2"]}).messages
    assert [turn.role for turn in turns or ()] == ["user", "assistant", "tool"]
    (image,) = _span(CHAT | {"gen_ai.input.messages": examples["multimodal.input"]}).messages or ()
    assert image.content == "What is in the attached data?"


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"},
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m"},
        {"openinference.span.kind": "CHAIN", "input.value": "x"},
        {"llm.request.type": "rerank"},
        {"traceloop.span.kind": "workflow", "gen_ai.request.model": "m"},
        {"http.method": "POST"},
    ],
)
def test_other_spans_are_no_calls(attributes: dict[str, Any]) -> None:
    """Agents and workflows repeat the texts of their calls, which would count twice."""
    assert genai.of_span(attributes, events=(), failed=False) is None


def test_parameters_go_by_their_openai_names() -> None:
    """A replay sends them to an OpenAI-compatible endpoint."""
    call = _span(
        CHAT
        | {
            "gen_ai.request.temperature": 0.2,
            "gen_ai.request.choice.count": 3,
            "gen_ai.request.stop_sequences": ["\n"],
            "llm.invocation_parameters": '{"model": "m", "top_p": 0.5, "stream": true}',
        }
    )

    assert call.parameters == {"temperature": 0.2, "n": 3, "stop": ["\n"], "top_p": 0.5}


@pytest.mark.parametrize(
    "prompt",
    ['[{"role": "user", "parts": [{"type": "text", "content": "Summ', "[" * 5000, 7, None, "[1]"],
)
def test_a_damaged_prompt_is_no_document(prompt: Any) -> None:
    """SDKs can cut attributes at a length; raw JSON must not be taken for the text."""
    call = _span(CHAT | {"gen_ai.input.messages": prompt, "gen_ai.output.messages": OUTPUT})

    assert all('"role"' not in message.content for message in call.messages or ())


def test_a_failed_span_without_a_type_is_an_error() -> None:
    """Its status alone says that there is no answer."""
    assert _span(CHAT, failed=True).error == "error"
    assert _span(CHAT | {"error.type": "Timeout"}, failed=True).error == "Timeout"


def test_an_answer_that_is_json_stays_a_text() -> None:
    """Services ask models for JSON; taking it apart would invent another answer."""
    call = _span(CHAT | {"gen_ai.completion": '{"summary": "A."}'})

    assert call.choices == (Choice(text='{"summary": "A."}'),)


def test_a_huge_number_in_a_name_costs_nothing() -> None:
    """Numbers are only compared; a list of a billion entries is never made."""
    call = _span(CHAT | {"gen_ai.prompt.999999999.content": "A", "gen_ai.prompt.x.content": "B"})

    assert call.messages == (Message(role="user", content="A"),)


def test_a_tool_call_is_known_without_content() -> None:
    """Finish reasons come even where the content switch is off."""
    call = _span(CHAT | {"gen_ai.response.finish_reasons": ["tool_calls"]})

    assert call.calls_tool


def test_a_text_beyond_all_limits_is_not_even_parsed() -> None:
    """Four bytes a character in several copies would take more memory than a sidecar may."""
    huge = [{"role": "user", "parts": [{"type": "text", "content": "é" * genai.LONGEST_TEXT}]}]
    call = _span(CHAT | {"gen_ai.input.messages": json.dumps(huge, ensure_ascii=False)})

    assert call.oversized
    assert call.complete, "nothing that could still come would make it readable"
    assert call.messages is None
    assert call.requested_model == "m"
