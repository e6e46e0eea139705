"""Replays: the same request, and none of its side effects."""

from __future__ import annotations

import re

import httpx
import pytest
from structlog.testing import capture_logs

from monitor.records import CapturedRequest, Message, Reason, SummaryTask
from monitor.replays import is_replay_trace
from monitor.summarization.circuit import Circuit, CircuitState
from monitor.summarization.limits import CallLimits
from monitor.summarization.replay import ReplaySummarizer

LIMITS = CallLimits(
    timeout=60,
    time_limit=180,
    attempts=4,
    concurrency=2,
    requests_per_second=None,
    tokens_per_day=None,
)
URL = "http://service.test/v1/chat/completions"


def replay(transport, **changes):
    return ReplaySummarizer(**{"url": URL, "limits": LIMITS, "transport": transport, **changes})


def task(*messages, document="The dog ran.", original="The cat ran.", **parameters):
    return SummaryTask(
        document=document,
        original_document=original,
        request=CapturedRequest(
            messages=tuple(Message(role=role, content=content) for role, content in messages),
            model="served-model",
            parameters=parameters,
        ),
    )


ASKED = ("user", "Summarise this.\n\nThe cat ran.")


def test_only_the_document_is_replaced(scripted, completion):
    """Wherever it stands: clients repeat it in system turns and in few-shot frames."""
    server = scripted([completion()])
    replay(server).summarize(
        [task(("system", "About: The cat ran. Be brief."), ("user", "The cat ran.\nThe cat ran."))]
    )
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "About: The dog ran. Be brief."},
        {"role": "user", "content": "The dog ran.\nThe dog ran."},
    ]
    assert server.bodies[0]["model"] == "served-model"


def test_generation_parameters_are_kept_and_everything_else_is_dropped(scripted, completion):
    """The same request, but unstreamed, unstored, once, without tools and without a person."""
    server = scripted([completion()])
    captured = {
        "temperature": 0.2,
        "max_tokens": 200,
        "stop": ["\n\n"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "n": 4,
        "store": True,
        "metadata": {"customer": "17"},
        "user": "reader@example.org",
        "safety_identifier": "17",
        "tools": [{"type": "function"}],
        "tool_choice": "required",
        "parallel_tool_calls": True,
        "functions": [],
        "function_call": "auto",
        "service_tier": "priority",
        "previous_response_id": "resp_1",
        "conversation": "conv_1",
        "something_new": 1,
    }
    replay(server).summarize([task(ASKED, **captured)])
    sent = server.bodies[0]
    sent.pop("messages")
    assert sent == {
        "temperature": 0.2,
        "max_tokens": 200,
        "stop": ["\n\n"],
        "model": "served-model",
        "stream": False,
        "n": 1,
        "store": False,
    }


def test_dropped_parameters_are_told_once(scripted, completion):
    """They may change the summaries; a line a replay would fill the log."""
    summarizer = replay(scripted([completion()]))
    with capture_logs() as logs:
        summarizer.summarize([task(ASKED, chat_template="x", stream=True)] * 3)
    assert logs == [
        {
            "event": "replay_parameters_dropped",
            "parameters": ["chat_template"],
            "log_level": "warning",
        }
    ]


def test_named_parameters_are_replayed_too(scripted, completion):
    """A server's own generation parameter can be allowed by configuration."""
    server = scripted([completion()])
    replay(server, parameters=["length_penalty"]).summarize([task(ASKED, length_penalty=2.0)])
    assert server.bodies[0]["length_penalty"] == 2.0


def test_store_can_be_left_out(scripted, completion):
    """Strict servers refuse a field that they do not know."""
    server = scripted([completion()])
    replay(server, ask_not_to_store=False).summarize([task(ASKED, store=True)])
    assert "store" not in server.bodies[0]


@pytest.mark.parametrize(("sampled", "flags"), [(True, "01"), (False, "00")])
def test_every_replay_has_trace_ids_of_its_own(scripted, completion, sampled, flags):
    """With the mark by which ingest drops it, and never the ids of the captured call."""
    server = scripted([completion()])
    replay(server, sampled=sampled).summarize([task(ASKED)] * 3)
    parents = [request.headers["traceparent"] for request in server.seen]
    assert all(re.fullmatch(rf"00-[0-9a-f]{{32}}-[0-9a-f]{{16}}-{flags}", it) for it in parents)
    assert len({parent.split("-")[1] for parent in parents}) == 3
    assert [request.headers["tracestate"] for request in server.seen] == ["hss=replay"] * 3
    assert all(is_replay_trace(parent.split("-")[1]) for parent in parents)


def test_the_configured_key_is_sent_to_the_configured_place(scripted, completion):
    """A captured request names no place and no key that could be used instead."""
    server = scripted([completion()])
    captured = {"base_url": "http://elsewhere.test", "api_key": "theirs"}
    replay(server, api_key="ours").summarize([task(ASKED, **captured)])
    assert str(server.seen[0].url) == URL
    assert server.seen[0].headers["authorization"] == "Bearer ours"
    assert b"theirs" not in server.seen[0].content


def test_a_record_without_a_request_cannot_be_replayed(scripted, completion):
    """Records sent as plain JSON often have none."""
    server = scripted([completion()])
    answer = replay(server).summarize([SummaryTask(document="a", original_document="a")])[0]
    assert (answer.reason, server.seen) == (Reason.REQUEST_MISSING, [])


def test_a_document_that_is_not_in_the_request_is_not_guessed(scripted, completion):
    """Sending the request unchanged would give a distance of 0 that means nothing."""
    server = scripted([completion()])
    answer = replay(server).summarize([task(("user", "Something else."))])[0]
    assert (answer.reason, server.seen) == (Reason.DOCUMENT_NOT_FOUND, [])


def test_a_document_before_an_assistant_turn_is_not_replayed(scripted, completion):
    """The model would continue a conversation, not write a summary."""
    turns = [ASKED, ("assistant", "A cat ran."), ("user", "Shorter.")]
    answer = replay(scripted([completion()])).summarize([task(*turns)])[0]
    assert answer.reason is Reason.DOCUMENT_NOT_LAST


def test_few_shot_turns_before_the_document_are_replayed(scripted, completion):
    """Only a turn *after* the document matters."""
    turns = [("user", "A text."), ("assistant", "Its summary."), ASKED]
    answer = replay(scripted([completion()])).summarize([task(*turns)])[0]
    assert answer.text == "A summary."


def test_a_short_document_is_not_replaced_inside_words(scripted, completion):
    """`art` stands in `article` too."""
    server = scripted([completion()])
    replay(server).summarize([task(("user", "Sum the article: art"), document="x", original="art")])
    assert server.bodies[0]["messages"][0]["content"] == "Sum the article: x"


def test_white_space_around_the_document_does_not_hide_it(scripted, completion):
    """Extraction may keep a final line break that the prompt does not have."""
    server = scripted([completion()])
    replay(server).summarize([task(ASKED, document="The dog ran.\n", original="The cat ran.\n")])
    assert server.bodies[0]["messages"][0]["content"] == "Summarise this.\n\nThe dog ran."


def test_a_captured_nan_is_an_error_not_a_crash(scripted, completion):
    """OTLP doubles may be NaN, JSON numbers may not."""
    answer = replay(scripted([completion()])).summarize([task(ASKED, temperature=float("nan"))])[0]
    assert answer.reason is Reason.SUMMARIZER_ERROR


@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_pauses_all_replays(scripted, status, clock):
    """Visible as a state, and answered without a call until the pause ends."""
    server = scripted([httpx.Response(status)])
    circuit = Circuit(pause=20, clock=clock)
    summarizer = replay(server, circuit=circuit, clock=clock)
    summarizer.summarize([task(ASKED)])
    assert summarizer.circuit.state is CircuitState.OPEN
    answer = summarizer.summarize([task(ASKED)])[0]
    assert (answer.reason, len(server.seen)) == (Reason.SUMMARIZER_THROTTLED, 1)
    assert "2026-03-01T23:00:20Z" in answer.detail


def test_name_and_promise(scripted, completion):
    """y₀ may be the observed summary; the place does not change the fingerprint."""
    server = scripted([completion()])
    summarizer = replay(server)
    assert (summarizer.replays, summarizer.deterministic) == (True, False)
    assert summarizer.name == replay(server, url="http://other.test/v1", api_key="k").name
    assert summarizer.name.startswith("replay(")
