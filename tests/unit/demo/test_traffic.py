"""The demo's readers."""

from __future__ import annotations

import json

import httpx
import pytest

from monitor.demo.traffic import TrafficGenerator
from monitor.errors import ConfigurationError

DOCUMENTS = [f"Document {place}." for place in range(5)]


class Service:
    """Answers with the prompt's last word; remembers everything."""

    def __init__(self, status=200):
        self.status = status
        self.bodies = []
        self.headers = []

    def transport(self):
        return httpx.MockTransport(self.answer)

    def answer(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        self.headers.append(request.headers)
        text = body["messages"][-1]["content"].split()[-1]
        return httpx.Response(
            self.status, json={"choices": [{"message": {"role": "assistant", "content": text}}]}
        )


def generator(service, **changes):
    return TrafficGenerator("http://svc.test", DOCUMENTS, transport=service.transport(), **changes)


def test_the_order_depends_on_the_seed_only():
    """Two runs of the demo score the same documents."""
    orders = []
    for seed in (7, 7, 8):
        with generator(Service(), seed=seed) as traffic:
            orders.append([result.index for result in traffic.send(5)])
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert sorted(orders[0]) == [0, 1, 2, 3, 4]


def test_the_article_stands_below_an_instruction():
    """As real clients write it, so that the monitor's extraction has its work to do."""
    service = Service()
    with generator(service) as traffic:
        result = traffic.send(1)[0]
    assert service.bodies[0]["messages"] == [
        {
            "role": "user",
            "content": "Summarise the following article in three sentences.\n\n"
            + DOCUMENTS[result.index],
        }
    ]


def test_all_documents_are_sent_before_one_comes_again():
    """Over and over, in the same order."""
    with generator(Service()) as traffic:
        indices = [result.index for result in traffic.send(10)]
    assert indices[:5] == indices[5:]


def test_every_call_begins_a_sampled_trace_of_its_own():
    """A second run with the same ids would be the same records."""
    service = Service()
    with generator(service) as traffic:
        results = traffic.send(3)
    assert len({result.trace_id for result in results}) == 3
    for headers, result in zip(service.headers, results, strict=True):
        version, trace, _, flags = headers["traceparent"].split("-")
        assert (version, trace, flags) == ("00", result.trace_id, "01")


def test_calls_and_answers_are_counted():
    """The demo compares them with what the monitor received."""
    with generator(Service()) as traffic:
        traffic.send(3)
        traffic.send(4)
        assert (traffic.calls, traffic.answered) == (7, 7)


def test_failed_calls_are_results_too():
    """A 500 and a lost connection do not end the traffic."""
    with generator(Service(status=500)) as traffic:
        result = traffic.send(1)[0]
        assert (result.status, result.summary) == (500, None)
        assert (traffic.calls, traffic.answered) == (1, 0)

    def lost(request):
        raise httpx.ConnectError("gone")

    with TrafficGenerator(
        "http://svc.test", DOCUMENTS, transport=httpx.MockTransport(lost)
    ) as traffic:
        assert traffic.send(1)[0].status is None


def test_calls_are_paced():
    """Ten a second leave 0.1 s from start to start; the third call takes longer than that."""
    slept = []
    times = iter([0.0, 0.03, 0.1, 0.15, 0.2, 0.35])
    with generator(
        Service(), per_second=10, sleep=slept.append, monotonic=lambda: next(times)
    ) as traffic:
        traffic.send(3)
    assert slept == pytest.approx([0.07, 0.05])


def test_no_documents_are_refused():
    """By the name of the argument."""
    with pytest.raises(ConfigurationError, match="documents"):
        TrafficGenerator("http://svc.test", [])
