"""The chat summarizer: what it sends and what its name tells."""

from __future__ import annotations

import re
from dataclasses import replace

import httpx
import pytest

from monitor.errors import ConfigurationError
from monitor.records import Reason
from monitor.summarization.chat import ChatSummarizer
from monitor.summarization.limits import CallLimits

URL = "http://models.test/v1/chat/completions"
LIMITS = CallLimits(
    timeout=60,
    time_limit=180,
    attempts=2,
    concurrency=4,
    requests_per_second=None,
    tokens_per_day=None,
    backoff=0,
)


def chat(transport, **changes):
    return ChatSummarizer(
        **{
            "url": URL,
            "model": "m",
            "prompt": "Summarize: {document}",
            "parameters": {"temperature": 0.0},
            "limits": LIMITS,
            "transport": transport,
            **changes,
        }
    )


def test_the_document_stands_in_the_prompt(scripted, completion, tasks):
    """Braces of the document and of the prompt are left alone."""
    server = scripted([completion()])
    summarizer = chat(server, prompt="Keep {this}: {document}", system="Be brief.")
    summarizer.summarize(tasks("a {document} and {0}"))
    assert server.bodies[0] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Keep {this}: a {document} and {0}"},
        ],
        "temperature": 0.0,
        "stream": False,
        "n": 1,
    }
    assert str(server.seen[0].url) == URL


def test_one_answer_a_task_in_order(scripted, completion, tasks):
    """An empty document costs no call."""
    server = scripted([completion()])
    answers = chat(server).summarize(tasks("one", "  ", "two"))
    assert [answer.reason for answer in answers] == [None, Reason.EMPTY_DOCUMENT, None]
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"text": ""}, Reason.EMPTY_SUMMARY),
        ({"text": None, "tool_calls": [{"id": "1"}]}, Reason.TOOL_CALL),
    ],
)
def test_answers_that_are_no_summary(scripted, completion, tasks, reply, reason):
    """Missing is missing: each has its reason."""
    answer = chat(scripted([completion(**reply)])).summarize(tasks("one"))[0]
    assert (answer.text, answer.reason, answer.prompt_tokens) == (None, reason, 30)


def test_no_tasks_are_no_calls(scripted, completion):
    """A batch may be empty."""
    server = scripted([completion()])
    assert chat(server).summarize([]) == []
    assert server.seen == []


def test_the_name_tells_what_changes_the_output(scripted, completion):
    """It is part of the calibration's fingerprint."""
    server = scripted([completion()])
    names = {
        chat(server).name,
        chat(server, model="other").name,
        chat(server, prompt="Shorten: {document}").name,
        chat(server, system="Be brief.").name,
        chat(server, parameters={"temperature": 0.7}).name,
    }
    assert len(names) == 5


def test_the_name_does_not_tell_place_key_or_limits(scripted, completion):
    """Moving to another host must not make a calibration useless; a key must not leak."""
    server = scripted([completion()])
    moved = chat(
        server, url="https://other.test/v1/chat", api_key="sk-1", limits=replace(LIMITS, attempts=5)
    )
    assert moved.name == chat(server).name
    assert re.fullmatch(r'chat\(model="m", prompt="[0-9a-f]{12}", temperature=0\.0\)', moved.name)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"prompt": "Summarize."}, "prompt"),
        ({"parameters": {"stream": True}}, "parameters"),
        ({"parameters": {"n": 3}}, "parameters"),
        ({"parameters": {"temperature": float("nan")}}, "parameters"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(scripted, wrong, field):
    """At the start, by the name of its key."""
    with pytest.raises(ConfigurationError, match=field):
        chat(scripted([httpx.Response(200)]), **wrong)


def test_a_lone_surrogate_can_be_sent(scripted, completion, tasks):
    """Broken text reaches us from broken clients; it must not break a batch."""
    server = scripted([completion()])
    assert chat(server).summarize(tasks("half \ud83d of an emoji"))[0].text == "A summary."
