"""OpenAI's bodies as calls, on recorded exchanges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from monitor.ingest import openai
from monitor.ingest.call import Choice
from monitor.records import Message

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "otlp"


@pytest.fixture
def recorded() -> Callable[[str], dict[str, Any]]:
    def read(name: str) -> dict[str, Any]:
        path = SAMPLES / f"repo_openai_{name}.json"
        if not path.exists():
            pytest.skip(f"the telemetry samples are not at {SAMPLES}")
        exchange: dict[str, Any] = json.loads(path.read_text())
        return exchange

    return read


def test_a_chat_completion(recorded: Any) -> None:
    """Requested and answering model differ, and both are kept."""
    exchange = recorded("chat_completion")
    asked = openai.of_request(exchange["request"])
    call = asked.joined(openai.of_response(exchange["response"]))

    assert call.messages == (Message(role="user", content="Say this is a test"),)
    assert call.choices == (Choice(text="This is a test.", finish_reason="stop"),)
    assert (call.requested_model, call.response_model) == ("gpt-4o-mini", "gpt-4o-mini-2024-07-18")
    assert call.parameters == {}
    assert call.complete


def test_several_choices_keep_their_order(recorded: Any) -> None:
    """The first is what the service answered, the others are null control."""
    exchange = recorded("chat_multiple_choices")
    backwards = exchange["response"] | {"choices": exchange["response"]["choices"][::-1]}

    texts = [choice.text for choice in openai.of_response(backwards).choices or ()]
    assert texts == ["This is a test.", "This is a test! How can I assist you further?"]
    assert openai.of_request(exchange["request"]).parameters == {"n": 2}


def test_a_stream_adds_up(recorded: Any) -> None:
    """Chunks without choices (usage) and the end mark add nothing."""
    call = openai.of_stream(recorded("chat_stream")["sse"])

    assert call.choices == (Choice(text="This is a test.", finish_reason="stop"),)
    assert call.response_model == "gpt-4-0613"


def test_a_cut_stream_gives_what_came(recorded: Any) -> None:
    """A sender that hangs up in the middle of a line leaves broken JSON."""
    lines = [*recorded("chat_stream")["sse"][:3], 'data: {"choices": [{"ind']

    assert openai.of_stream(lines).choices == (Choice(text="This is"),)


def test_a_tool_call_is_no_text(recorded: Any) -> None:
    """Its content is null, which must not become an empty summary."""
    (choice,) = openai.of_response(recorded("chat_tool_calls")["response"]).choices or ()

    assert choice.is_tool_call
    assert choice.text is None


def test_a_streamed_tool_call_is_one() -> None:
    """The call comes in deltas, the text stays empty."""
    delta = {"tool_calls": [{"index": 0, "function": {"name": "f"}}]}
    line = "data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]})

    (choice,) = openai.of_stream([line]).choices or ()
    assert choice.is_tool_call


def test_an_error_has_a_type_and_no_choices(recorded: Any) -> None:
    """What failed is counted as a failure of transport, by its code."""
    call = openai.of_response(recorded("error_404")["response"])

    assert (call.error, call.choices, call.complete) == ("model_not_found", None, False)


def test_the_responses_api(recorded: Any) -> None:
    """Its input may be a plain string, and its output is a list of items."""
    exchange = recorded("responses_api")
    call = openai.of_request(exchange["request"]).joined(openai.of_response(exchange["response"]))

    assert call.messages == (Message(role="user", content="Say this is a test"),)
    assert call.choices == (Choice(text="This is a test."),)


def test_reasoning_of_a_response_is_left_out() -> None:
    """Reasoning items are not what the user saw."""
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    message = {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}

    assert openai.of_response({"output": [thought, message]}).choices == (Choice(text="Yes."),)


def test_instructions_come_first_and_storage_does_not_come_along() -> None:
    """A replay must not store, stream, call tools or name a user."""
    body = {
        "model": "m",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "A"}]}],
        "temperature": 0,
        "top_p": None,
    }
    forbidden = {"store": True, "stream": True, "tools": [{}], "user": "u", "metadata": {"a": "b"}}
    call = openai.of_request(body | forbidden)

    assert call.messages == (
        Message(role="system", content="Be brief."),
        Message(role="user", content="A"),
    )
    assert call.parameters == {"temperature": 0}


@pytest.mark.parametrize(
    "body",
    [{}, {"choices": None}, {"choices": [5]}, {"output": [None]}, {"choices": [{"message": 3}]}],
)
def test_a_body_of_another_shape_tells_nothing(body: Any) -> None:
    """Vendors bend the format; what is not understood is not made up."""
    call = openai.of_response(body)

    assert (call.messages, call.answered) == (None, False)
    assert all(choice.text is None for choice in call.choices or ())
