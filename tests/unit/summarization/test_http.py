"""The generic endpoint: templates and JMESPath."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import ConfigurationError
from monitor.records import Reason
from monitor.summarization.http import HttpSummarizer
from monitor.summarization.limits import CallLimits
from monitor.summarization.prompts import json_filled

LIMITS = CallLimits(
    timeout=60,
    time_limit=180,
    attempts=1,
    concurrency=4,
    requests_per_second=None,
    tokens_per_day=None,
    backoff=0,
)


def summarizer(transport, **changes):
    return HttpSummarizer(
        **{
            "url": "http://api.test/sum",
            "body": '{"text": {document}}',
            "answer": "summary",
            "limits": LIMITS,
            "transport": transport,
            **changes,
        }
    )


def test_body_and_answer_by_configuration(scripted, tasks):
    """An endpoint of any shape, with its own token counts."""
    reply = {"out": [{"generated": " A text. "}], "meta": {"in": 12, "out": 3}}
    server = scripted([httpx.Response(200, json=reply)])
    answer = summarizer(
        server,
        body='{"inputs": {document}, "options": {"beams": 4}}',
        answer="out[0].generated",
        prompt_tokens="meta.in",
        completion_tokens="meta.out",
    ).summarize(tasks('He said "no".\n'))[0]
    assert server.bodies == [{"inputs": 'He said "no".\n', "options": {"beams": 4}}]
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("A text.", 12, 3)


@given(st.text())
def test_a_document_cannot_leave_its_place(document):
    """Whatever it holds, the body decodes to the template with the document in it."""
    import json

    body = json_filled('{"a": {document}, "b": "x {document} y", "c": 1}', document)
    assert json.loads(body) == {"a": document, "b": f"x {document} y", "c": 1}


def test_sentences_in_a_list_are_joined(scripted, tasks):
    """Extractive services answer a list."""
    server = scripted([httpx.Response(200, json={"summary": ["One.", "Two."]})])
    assert summarizer(server).summarize(tasks("text"))[0].text == "One. Two."


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"summary": ""}, Reason.EMPTY_SUMMARY),
        ({"other": "text"}, Reason.SUMMARIZER_ERROR),
        ({"summary": {"text": "t"}}, Reason.SUMMARIZER_ERROR),
        ({"summary": [1, 2]}, Reason.SUMMARIZER_ERROR),
        ([], Reason.SUMMARIZER_ERROR),
        ("text", Reason.SUMMARIZER_ERROR),
    ],
)
def test_answers_that_hold_no_summary(scripted, tasks, reply, reason):
    """Each with its reason, none with an exception."""
    answer = summarizer(scripted([httpx.Response(200, json=reply)])).summarize(tasks("text"))[0]
    assert (answer.text, answer.reason) == (None, reason)


def test_a_jmespath_function_on_a_wrong_type_finds_nothing(scripted, tasks):
    """JMESPath raises there; a summarizer must not."""
    server = scripted([httpx.Response(200, json={"summary": 3})])
    answer = summarizer(server, answer="join(' ', summary)").summarize(tasks("text"))[0]
    assert answer.reason is Reason.SUMMARIZER_ERROR


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"body": '{"text": "fixed"}'}, "body"),
        ({"body": "{document"}, "body"),
        ({"body": '{"text": {document}'}, "body"),
        ({"answer": "choices["}, "answer"),
        ({"prompt_tokens": "]"}, "prompt_tokens"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(scripted, wrong, field):
    """At the start, by the name of its key."""
    with pytest.raises(ConfigurationError, match=field):
        summarizer(scripted([httpx.Response(200)]), **wrong)


def test_the_name_tells_template_and_path_but_not_place(scripted):
    """It is part of the calibration's fingerprint."""
    server = scripted([httpx.Response(200)])
    plain = summarizer(server).name
    assert plain == summarizer(server, url="http://other.test/").name
    assert plain != summarizer(server, body='{"t": {document}}').name
    assert plain != summarizer(server, answer="text").name
