"""Everything that an endpoint can do wrong, and what becomes of it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from dataclasses import replace

import httpx
import pytest
from structlog.testing import capture_logs

from monitor.errors import ConfigurationError
from monitor.records import Reason
from monitor.retry_after import retry_after_seconds
from monitor.summarization.answers import chat_completion
from monitor.summarization.calls import Call, Endpoint
from monitor.summarization.circuit import Circuit, CircuitState
from monitor.summarization.limits import CallLimits

LIMITS = CallLimits(
    timeout=60,
    time_limit=180,
    attempts=4,
    concurrency=4,
    requests_per_second=None,
    tokens_per_day=None,
)
CALL = Call(body=b"{}", expected_tokens=100)


def endpoint(transport, clock, *, circuit=None, **limits):
    return Endpoint(
        "http://summarizer.test/v1/chat/completions",
        read=chat_completion,
        api_key="a-secret-key",
        limits=replace(LIMITS, **limits),
        circuit=circuit,
        transport=transport,
        clock=clock,
        monotonic=clock.monotonic,
        sleep=clock.sleep,
    )


def test_answers_come_in_the_order_of_the_calls(scripted, completion, clock):
    """The pipeline matches answers to perturbations by position, whatever finishes first."""

    async def answer(request):
        await asyncio.sleep(0.02 if request.content == b"0" else 0)
        return completion(request.content.decode())

    calls = [Call(body=str(place).encode(), expected_tokens=1) for place in range(6)]
    answers = endpoint(lambda: httpx.MockTransport(answer), clock).call_all(calls)
    assert [answer.text for answer in answers] == ["0", "1", "2", "3", "4", "5"]


def test_tokens_latency_and_attempts_are_recorded(scripted, completion, clock):
    """Cost is reported from these."""
    server = scripted([completion("Text.", tokens=(30, 5))], on_call=lambda: clock.move(2.5))
    answer = endpoint(server, clock).call_all([CALL])[0]
    assert (answer.prompt_tokens, answer.completion_tokens) == (30, 5)
    assert (answer.seconds, answer.attempts) == (2.5, 1)


def test_no_more_calls_run_at_a_time_than_allowed(scripted, completion, clock):
    """Concurrency is the first thing that hurts a live service."""
    server = scripted([completion()], seconds=0.005)
    endpoint(server, clock, concurrency=3).call_all([CALL] * 10)
    assert server.most_in_flight == 3


def test_attempts_are_spaced_by_the_rate(scripted, completion, clock):
    """Five calls at two a second start over two seconds."""
    server = scripted([completion()])
    begun = clock.now
    endpoint(server, clock, requests_per_second=2.0, concurrency=1).call_all([CALL] * 5)
    assert (clock.now - begun).total_seconds() == pytest.approx(2.0)


def test_a_hanging_endpoint_is_a_timeout_and_is_not_asked_again(scripted, completion, clock):
    """A second call would double the load on an endpoint that is already slow."""
    server = scripted([completion()], seconds=5.0)
    began = time.monotonic()
    answer = endpoint(server, clock, timeout=0.05).call_all([CALL])[0]
    assert time.monotonic() - began < 2
    assert (answer.text, answer.reason) == (None, Reason.SUMMARIZER_TIMEOUT)
    assert len(server.seen) == 1


def test_a_500_is_an_error_after_all_attempts(scripted, clock):
    """Each retry waits longer at most: backoff · 2ⁿ, drawn with jitter."""
    server = scripted([httpx.Response(500, text="a text that must not leak")])
    answer = endpoint(server, clock, attempts=3, backoff=1.0).call_all([CALL])[0]
    assert (answer.reason, answer.attempts) == (Reason.SUMMARIZER_ERROR, 3)
    assert "status 500" in answer.detail
    assert "leak" not in answer.detail
    assert len(clock.slept) == 2
    assert clock.slept[0] <= 1.0
    assert clock.slept[1] <= 2.0


def test_a_500_that_passes_costs_one_more_attempt(scripted, completion, clock):
    """Most errors of a served model are over at once."""
    server = scripted([httpx.Response(500), completion("Back.")])
    answer = endpoint(server, clock).call_all([CALL])[0]
    assert (answer.text, answer.attempts) == ("Back.", 2)


def test_retry_after_is_waited_for(scripted, completion, clock):
    """It outranks our own, shorter backoff."""
    server = scripted([httpx.Response(429, headers={"retry-after": "7"}), completion("Now.")])
    answer = endpoint(server, clock, backoff=0.1).call_all([CALL])[0]
    assert (answer.text, clock.slept) == ("Now.", [7.0])


def test_429_until_the_end_is_throttled(scripted, clock):
    """Throttled is no failure of the record: it is put back and asked for later."""
    server = scripted([httpx.Response(429, headers={"retry-after": "1"})])
    answer = endpoint(server, clock, attempts=3).call_all([CALL])[0]
    assert (answer.reason, len(server.seen)) == (Reason.SUMMARIZER_THROTTLED, 3)


def test_a_retry_after_beyond_the_time_limit_is_not_waited_for(scripted, clock):
    """A scorer must not sleep through an hour with a lease in hand."""
    server = scripted([httpx.Response(429, headers={"retry-after": "3600"})])
    answer = endpoint(server, clock, time_limit=60).call_all([CALL])[0]
    assert (answer.reason, clock.slept) == (Reason.SUMMARIZER_THROTTLED, [])
    assert "3600" in answer.detail


def test_a_400_is_not_tried_again(scripted, clock):
    """The same request would be refused again."""
    server = scripted([httpx.Response(400)])
    answer = endpoint(server, clock).call_all([CALL])[0]
    assert (answer.reason, len(server.seen)) == (Reason.SUMMARIZER_ERROR, 1)


def test_a_redirect_is_not_followed(scripted, clock):
    """It would carry the text, and perhaps the key, to another place than configured."""
    server = scripted([httpx.Response(307, headers={"location": "http://elsewhere.test/"})])
    answer = endpoint(server, clock).call_all([CALL])[0]
    assert answer.reason is Reason.SUMMARIZER_ERROR
    assert "redirect" in answer.detail
    assert len(server.seen) == 1


@pytest.mark.parametrize("content", [b"{broken", b"", b"\xff\xfe", b"[" * 200_000])
def test_broken_json_is_an_error(scripted, clock, content):
    """A proxy's error page or a cut body must not crash a scorer."""
    server = scripted([httpx.Response(200, content=content)])
    answer = endpoint(server, clock).call_all([CALL])[0]
    assert (answer.reason, len(server.seen)) == (Reason.SUMMARIZER_ERROR, 1)


def test_a_huge_answer_is_not_read_to_its_end(scripted, clock):
    """An endpoint gone wild must not fill a scorer's memory."""
    server = scripted([httpx.Response(200, content=b"x" * 5000)])
    answer = endpoint(server, clock, max_answer_bytes=1000).call_all([CALL])[0]
    assert answer.reason is Reason.SUMMARIZER_ERROR
    assert "1000 bytes" in answer.detail


def test_a_closed_connection_is_tried_again_and_then_an_error(clock):
    """On a real socket: the server reads the request and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)
    accepted = []

    def hang_up():
        for _ in range(2):
            connection, _ = listener.accept()
            accepted.append(connection.recv(65536)[:4])
            connection.close()

    thread = threading.Thread(target=hang_up, daemon=True)
    thread.start()
    target = Endpoint(
        f"http://127.0.0.1:{listener.getsockname()[1]}/",
        read=chat_completion,
        limits=replace(LIMITS, attempts=2, timeout=5, backoff=0),
        clock=clock,
    )
    answer = target.call_all([CALL])[0]
    thread.join(5)
    listener.close()
    assert (answer.reason, answer.attempts) == (Reason.SUMMARIZER_ERROR, 2)
    assert accepted == [b"POST", b"POST"]


def test_the_budget_stops_calls_and_says_until_when(scripted, completion, clock):
    """250 tokens hold two calls of 100; the third is not sent."""
    server = scripted([completion(tokens=(90, 10))])
    answers = endpoint(server, clock, tokens_per_day=250, concurrency=1).call_all([CALL] * 3)
    assert [answer.reason for answer in answers] == [None, None, Reason.OVER_BUDGET]
    assert "2026-03-02T00:00:00Z" in answers[2].detail
    assert (len(server.seen), answers[2].attempts) == (2, 0)


def test_the_next_day_has_tokens_again(scripted, completion, clock):
    """The budget is one of a UTC day, not of a process."""
    server = scripted([completion(tokens=(90, 10))])
    target = endpoint(server, clock, tokens_per_day=100)
    assert target.call_all([CALL, CALL])[1].reason is Reason.OVER_BUDGET
    clock.move(3600)
    assert target.call_all([CALL])[0].text == "A summary."


def test_refused_calls_use_no_tokens(scripted, clock):
    """An hour of 429 must not use up the day."""
    target = endpoint(scripted([httpx.Response(429)]), clock, attempts=1, tokens_per_day=1000)
    target.call_all([CALL] * 3)
    assert target.budget.spent == 0


def test_an_endpoint_that_is_not_reached_uses_no_tokens(scripted, clock):
    """One that is down all day must not use up the day."""
    down = scripted([httpx.ConnectError("refused")])
    target = endpoint(down, clock, attempts=1, tokens_per_day=1000)
    assert target.call_all([CALL])[0].reason is Reason.SUMMARIZER_ERROR
    assert target.budget.spent == 0


def test_a_connection_lost_after_sending_is_charged_as_expected(scripted, clock):
    """The answer may have been written and billed."""
    target = endpoint(scripted([httpx.ReadError("gone")]), clock, attempts=1)
    target.call_all([CALL])
    assert target.budget.spent == 100


def test_every_attempt_that_may_have_been_billed_is_charged(scripted, completion, clock):
    """The first answer was perhaps written, and lost; the second tells its own 90 + 10 only."""
    server = scripted([httpx.ReadError("gone"), completion(tokens=(90, 10))])
    target = endpoint(server, clock, attempts=2)
    assert target.call_all([CALL])[0].attempts == 2
    assert target.budget.spent == 100 + 100


def test_an_answer_without_counts_is_charged_as_expected(scripted, completion, clock):
    """Unknown is not free."""
    target = endpoint(scripted([completion(tokens=None)]), clock)
    answer = target.call_all([CALL])[0]
    assert (answer.prompt_tokens, target.budget.spent) == (None, 100)


def test_an_open_circuit_answers_without_a_call(scripted, completion, clock):
    """And tells when it ends, so that the record can be put back until then."""
    server = scripted([completion()])
    circuit = Circuit(pause=30, clock=clock)
    circuit.failed("status 503")
    answers = endpoint(server, clock, circuit=circuit).call_all([CALL, CALL])
    assert [answer.reason for answer in answers] == [Reason.SUMMARIZER_THROTTLED] * 2
    assert "2026-03-01T23:00:30Z (status 503)" in answers[0].detail
    assert server.seen == []


def test_a_failure_pauses_the_rest_of_the_batch(scripted, clock):
    """One 500 is one call too many for a service in trouble; there are no retries."""
    server = scripted([httpx.Response(500)])
    circuit = Circuit(clock=clock)
    answers = endpoint(server, clock, circuit=circuit, concurrency=1).call_all([CALL] * 4)
    assert [answer.reason for answer in answers] == [
        Reason.SUMMARIZER_ERROR,
        *[Reason.SUMMARIZER_THROTTLED] * 3,
    ]
    assert len(server.seen) == 1


def test_after_a_pause_one_call_goes_ahead(scripted, clock):
    """Ten calls at once would hit a service that has just come back."""
    server = scripted([httpx.Response(500)])
    circuit = Circuit(pause=5, clock=clock)
    circuit.failed("status 500")
    clock.move(5)
    endpoint(server, clock, circuit=circuit, concurrency=8).call_all([CALL] * 8)
    assert len(server.seen) == 1


def test_after_a_good_probe_the_batch_goes_on(scripted, completion, clock):
    """The record that was waiting is scored in the same batch."""
    circuit = Circuit(pause=5, clock=clock)
    circuit.failed("status 500")
    clock.move(5)
    answers = endpoint(scripted([completion()]), clock, circuit=circuit).call_all([CALL] * 4)
    assert [answer.text for answer in answers] == ["A summary."] * 4
    assert circuit.state is CircuitState.CLOSED


def test_neither_key_nor_text_is_logged(scripted, completion, clock):
    """Logs go further than the people who may read texts."""
    server = scripted([httpx.Response(401, text="a-secret-key is wrong, words of a reader")])
    with capture_logs() as logs:
        target = endpoint(server, clock)
        answer = target.call_all([Call(body=b'"words of a reader"', expected_tokens=1)])[0]
    assert server.seen[0].headers["authorization"] == "Bearer a-secret-key"
    told = f"{logs} {answer} {target!r}"
    assert "secret" not in told
    assert "words of a reader" not in told
    assert logs[0]["event"] == "summarizer_call_failed"


def test_proxies_of_the_environment_are_not_used(monkeypatch, clock):
    """A text goes where the configuration says, whatever the shell exports."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)
    seen = []

    def answer():
        connection, _ = listener.accept()
        seen.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 400 no\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        connection.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    Endpoint(url, read=chat_completion, limits=replace(LIMITS, timeout=5)).call_all([CALL])
    thread.join(5)
    listener.close()
    assert seen
    assert seen[0].startswith(b"POST /v1 ")


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("summarizer/v1", "url"),
        ("ftp://summarizer/v1", "url"),
        ("http://user:password@summarizer/v1", "url"),
        ("http://summarizer..example/v1", "url"),
        ("http://", "url"),
    ],
)
def test_a_url_that_cannot_be_called_is_refused(url, field):
    """At the start, not at the first record; a password in it is not repeated."""
    with pytest.raises(ConfigurationError, match=field) as caught:
        Endpoint(url, read=chat_completion, limits=LIMITS)
    assert "password@" not in str(caught.value)


def test_a_key_with_a_line_break_is_refused_without_showing_it():
    """Read from a file, a key easily ends in a line break."""
    with pytest.raises(ConfigurationError, match="api_key") as caught:
        Endpoint("http://summarizer/", read=chat_completion, limits=LIMITS, api_key="secret\n")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("12", 12.0),
        ("-3", 0.0),
        ("Sun, 01 Mar 2026 23:01:00 GMT", 60.0),
        ("Sun, 01 Mar 2026 22:00:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_in_both_of_its_forms(header, seconds, clock):
    """HTTP allows a number of seconds and a date."""
    assert retry_after_seconds(header, now=clock.now) == seconds
