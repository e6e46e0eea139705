"""Sending events at least once, and never more often than the endpoint wants."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

from monitor.delivering import labelling_levels
from monitor.outlets import events
from monitor.outlets.evaluation_events import Level
from monitor.outlets.events import BATCH, EventOutlet
from monitor.settings import Settings
from monitor.storage.score_feed import FeedPosition
from monitor.storage.score_rows import ScoreRow

URL = "http://collector.test/v1/logs"


class Feed:
    """Rows in memory, with the cursor that a database would keep."""

    def __init__(self, start: Any) -> None:
        self.rows: list[ScoreRow] = []
        self.cursor = FeedPosition(finished_at=start - timedelta(seconds=1), record_id="")

    def start(self) -> FeedPosition:
        return self.cursor

    def read(self, after: FeedPosition, *, limit: int) -> list[ScoreRow]:
        place = (after.finished_at, after.record_id)
        behind = [row for row in self.rows if (row.finished_at, row.record_id) > place]
        return behind[:limit]

    def move(self, position: FeedPosition) -> None:
        self.cursor = position


@pytest.fixture
def feed(clock: Any) -> Feed:
    return Feed(clock.now)


@pytest.fixture
def make_outlet(feed: Feed, receiver: Any, clock: Any, count: Any) -> Callable[[], EventOutlet]:
    def make() -> EventOutlet:
        return EventOutlet(
            feed,
            receiver.client,
            url=URL,
            headers={"authorization": "Bearer t"},
            levels={},
            public_url=None,
            clock=clock,
            count=count[0],
        )

    return make


def sent(request: httpx.Request) -> list[str]:
    """The record ids of a request, once each."""
    found = ExportLogsServiceRequest.FromString(request.content)
    ids = [
        attribute.value.string_value
        for logs in found.resource_logs
        for scope in logs.scope_logs
        for record in scope.log_records
        for attribute in record.attributes
        if attribute.key == "hss.record.id"
    ]
    return list(dict.fromkeys(ids))


def test_everything_is_sent_once_in_batches(
    make_outlet: Any, feed: Feed, receiver: Any, make_row: Any, count: Any
) -> None:
    """A request has a bounded size."""
    feed.rows = [make_row(f"r{n:04}") for n in range(2 * BATCH + 1)]
    outlet = make_outlet()
    assert outlet.run() == 2 * BATCH + 1
    assert [len(sent(request)) for request in receiver.requests] == [BATCH, BATCH, 1]
    assert outlet.run() == 0
    assert list(count[1]) == ["taken"] * 3
    headers = receiver.requests[0].headers
    assert headers["content-type"] == "application/x-protobuf"
    assert headers["authorization"] == "Bearer t"


def test_an_endpoint_that_fails_is_asked_again_later_and_gets_everything(
    make_outlet: Any, feed: Feed, receiver: Any, make_row: Any, clock: Any
) -> None:
    """Pauses double; the pipeline never waits for it."""
    feed.rows = [make_row("r1"), make_row("r2")]
    receiver.says(httpx.Response(500), httpx.ConnectError("refused"), httpx.Response(200))
    outlet = make_outlet()
    asked = []
    for _ in range(40):
        outlet.run()
        asked.append(len(receiver.requests))
        clock.advance(1)
    assert [second for second in range(1, 40) if asked[second] > asked[second - 1]] == [5, 15]
    assert [sent(request) for request in receiver.requests] == [["r1", "r2"]] * 3


def test_a_restart_goes_on_behind_what_was_taken(
    make_outlet: Any, feed: Feed, receiver: Any, make_row: Any
) -> None:
    """At least once: what was not answered is sent by the next process."""
    feed.rows = [make_row(f"r{n:04}") for n in range(BATCH + 1)]
    receiver.says(httpx.Response(200), httpx.ReadTimeout("slow"), httpx.Response(200))
    make_outlet().run()
    make_outlet().run()
    assert [sent(request)[0] for request in receiver.requests] == ["r0000", "r0200", "r0200"]


@pytest.mark.parametrize(
    "header", ["60", "Sun, 01 Mar 2026 12:01:00 GMT", "Sun, 01 Mar 2026 12:01:00 -0000"]
)
def test_an_endpoint_says_when_to_come_back(
    make_outlet: Any, feed: Feed, receiver: Any, make_row: Any, clock: Any, header: str
) -> None:
    """429 and 503 carry `Retry-After`, a number of seconds or a date."""
    feed.rows = [make_row()]
    receiver.says(httpx.Response(429, headers={"retry-after": header}), httpx.Response(200))
    outlet = make_outlet()
    outlet.run()
    clock.advance(59)
    outlet.run()
    assert len(receiver.requests) == 1
    clock.advance(1)
    assert outlet.run() == 1


def test_one_record_that_is_refused_holds_nothing_up(
    make_outlet: Any, feed: Feed, receiver: Any, make_row: Any, count: Any
) -> None:
    """400 for a batch: it is halved until the culprit stands alone, and that one is left out."""
    feed.rows = [make_row(f"r{n}") for n in range(8)]

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400 if "r5" in sent(request) else 200)

    receiver.client = httpx.Client(transport=httpx.MockTransport(answer))
    assert make_outlet().run() == 7
    assert feed.cursor.record_id == "r7"
    assert list(count[1]).count("refused") == 1


@pytest.mark.parametrize("status", [301, 401, 404, 502])
def test_a_wrong_address_or_credential_loses_nothing(
    make_outlet: Any, feed: Feed, receiver: Any, make_row: Any, status: int
) -> None:
    """Somebody will mend it; until then the cursor stays."""
    before = feed.cursor
    feed.rows = [make_row()]
    receiver.says(httpx.Response(status))
    assert make_outlet().run() == 0
    assert feed.cursor == before


def test_what_was_taken_in_part_is_not_sent_again(
    make_outlet: Any,
    feed: Feed,
    receiver: Any,
    make_row: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """OTLP: the client must not retry a partial success; the log says what was left."""
    feed.rows = [make_row()]
    partial = ExportLogsPartialSuccess(rejected_log_records=2, error_message="too old")
    body = ExportLogsServiceResponse(partial_success=partial).SerializeToString()
    receiver.says(httpx.Response(200, content=body))
    assert make_outlet().run() == 1
    told = capsys.readouterr().out
    assert "events_rejected" in told
    assert "count=2" in told


def test_a_turn_ends_in_time(
    make_outlet: Any,
    feed: Feed,
    receiver: Any,
    make_row: Any,
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow endpoint must not keep the front from stopping."""
    monkeypatch.setattr(events, "BATCH", 1)
    feed.rows = [make_row(f"r{n:02}") for n in range(10)]

    def slow(request: httpx.Request) -> httpx.Response:
        clock.advance(2)
        return httpx.Response(200)

    receiver.client = httpx.Client(transport=httpx.MockTransport(slow))
    assert make_outlet().run() == 3


def test_labels_follow_the_bad_side_of_the_first_threshold_of_a_signal() -> None:
    """Low support is bad: a share above that has to stay high must not call good records bad."""
    settings = Settings(
        thresholds=[  # type: ignore[arg-type]  # pydantic validates them
            {"name": "hss_mean", "signal": "hss", "limit": {"value": 0.8}},
            {
                "name": "supported",
                "signal": "entity_support",
                "statistic": "share_above",
                "comparison": "below",
                "level": {"value": 0.9},
                "limit": {"value": 0.8},
            },
        ]
    )
    assert labelling_levels(settings) == {"entity_support": Level(value=0.9, above_fails=False)}
