"""What counts as a summary in a chat completion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.records import Reason
from monitor.summarization.answers import chat_completion

SAMPLES = Path("../shared/otlp")


def message(**fields):
    return {"choices": [{"message": {"role": "assistant", **fields}, "finish_reason": "stop"}]}


def test_a_recorded_completion_is_read():
    """The shape that api.openai.com really sends."""
    path = SAMPLES / "repo_openai_chat_completion.json"
    if not path.exists():
        pytest.skip(f"no sample at {path}: it lies outside the repository")
    answer = chat_completion(json.loads(path.read_text())["response"])
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == (
        "This is a test.",
        12,
        5,
    )


def test_a_recorded_tool_call_is_no_summary():
    """Its tokens still count."""
    path = SAMPLES / "repo_openai_chat_tool_calls.json"
    if not path.exists():
        pytest.skip(f"no sample at {path}: it lies outside the repository")
    answer = chat_completion(json.loads(path.read_text())["response"])
    assert (answer.text, answer.reason, answer.prompt_tokens) == (None, Reason.TOOL_CALL, 75)


def test_text_beside_a_tool_call_is_no_summary():
    """Models announce what they will look up; that is no summary."""
    answer = chat_completion(message(content="Let me look.", tool_calls=[{"id": "1"}]))
    assert (answer.text, answer.reason) == (None, Reason.TOOL_CALL)


@pytest.mark.parametrize("content", ["", "  \n", None, [], [{"type": "text", "text": ""}]])
def test_an_answer_without_words_is_an_empty_summary(content):
    """Never a summary of nothing with distance to something."""
    answer = chat_completion(message(content=content))
    assert (answer.text, answer.reason) == (None, Reason.EMPTY_SUMMARY)


def test_reasoning_parts_are_no_summary():
    """Only the text parts were shown to a user."""
    parts = [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Sum."}]
    assert chat_completion(message(content=parts)).text == "Sum."


def test_a_refusal_is_an_error():
    """The words of a refusal say nothing about the document."""
    answer = chat_completion(message(content=None, refusal="I cannot do that."))
    assert answer.reason is Reason.SUMMARIZER_ERROR
    assert "cannot do that" not in answer.detail


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "text",
        7,
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": {"0": 1}},
    ],
)
def test_any_other_json_is_an_error_and_never_raises(payload):
    """Proxies answer 200 with all kinds of things."""
    assert chat_completion(payload).reason is Reason.SUMMARIZER_ERROR


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "12"}, {"prompt_tokens": -1}])
def test_counts_that_are_none_stay_unknown(usage):
    """Unknown is None, never 0."""
    answer = chat_completion({**message(content="Sum."), "usage": usage})
    assert (answer.text, answer.prompt_tokens) == ("Sum.", None)
