"""Telling a webhook, signed, until it listens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from monitor.errors import ConfigurationError
from monitor.findings import BreachRow, Series
from monitor.outlets.webhook import WebhookOutlet, event_body, signed, signing_key
from monitor.storage.deliveries import Delivery

URL = "http://receiver.test/hook"


@dataclass
class Due:
    delivery: Delivery
    not_before: datetime


class Deliveries:
    """Events in memory; claims are not contested here."""

    def __init__(self, clock: Any) -> None:
        self.due: list[Due] = []
        self.given_up: list[str] = []
        self.problems: list[str] = []
        self._clock = clock

    def queue(self, *, since: datetime) -> int:
        return 0

    def claim(self, *, seconds: float) -> Delivery | None:
        for each in self.due:
            if each.not_before <= self._clock():
                attempt = each.delivery.attempt + 1
                each.delivery = replace(each.delivery, attempt=attempt)
                return each.delivery
        return None

    def delivered(self, delivery: Delivery) -> None:
        self.due = [each for each in self.due if each.delivery.key != delivery.key]

    def postpone(self, delivery: Delivery, *, seconds: float, problem: str) -> None:
        self.problems.append(problem)
        for each in self.due:
            if each.delivery.key == delivery.key:
                each.not_before = self._clock() + timedelta(seconds=seconds)

    def give_up(self, delivery: Delivery, *, problem: str) -> None:
        self.given_up.append(delivery.key)
        self.delivered(delivery)


@pytest.fixture
def delivery(clock: Any) -> Delivery:
    return Delivery(
        breach=BreachRow(
            id="hss_mean-3-0123456789ab",
            threshold="hss_mean",
            series=Series(service="news", model="gemma", category="politics"),
            number=3,
            signal="hss",
            statistic="mean",
            comparison="above",
            severity="page",
            state="open",
            exceeded_since=clock.now - timedelta(minutes=5),
            opened_at=clock.now,
            resolved_at=None,
            value=0.85,
            worst=0.9,
            limit=0.8,
            window_seconds=3600.0,
            records=40,
            acknowledged_at=None,
            acknowledged_by=None,
            note="a note with a secret",
        ),
        event="open",
        attempt=0,
        queued_at=clock.now,
    )


@pytest.fixture
def deliveries(clock: Any, delivery: Delivery) -> Deliveries:
    made = Deliveries(clock)
    made.due = [Due(delivery, clock.now)]
    return made


@pytest.fixture
def outlet(deliveries: Deliveries, receiver: Any, clock: Any, count: Any) -> WebhookOutlet:
    return WebhookOutlet(
        deliveries,
        receiver.client,
        url=URL,
        secret="s3cret",
        public_url="https://hss.example/",
        timeout_seconds=10,
        since=lambda: clock.now,
        clock=clock,
        count=count[0],
    )


def test_the_body_says_what_broke_and_where_to_look(delivery: Delivery) -> None:
    """Facts and a link; neither a text nor what somebody noted."""
    body = event_body(delivery, public_url="https://hss.example/")
    told = json.loads(body)
    assert told["type"] == "breach.opened"
    assert told["timestamp"] == "2026-03-01T12:00:00+00:00"
    assert told["data"]["links"] == {
        "breach": "https://hss.example/breaches/hss_mean-3-0123456789ab"
    }
    breach = told["data"]["breach"]
    assert (breach["service"], breach["value"], breach["limit"]) == ("news", 0.85, 0.8)
    assert (breach["exceeded_since"], breach["resolved_at"]) == ("2026-03-01T11:55:00+00:00", None)
    assert b"secret" not in body
    assert "links" not in json.loads(event_body(delivery, public_url=None))["data"]


def test_a_resolution_is_told_with_its_time(delivery: Delivery, clock: Any) -> None:
    """It is another event with another key."""
    ended = clock.now + timedelta(hours=1)
    breach = replace(delivery.breach, state="resolved", resolved_at=ended)
    resolved = replace(delivery, breach=breach, event="resolved")
    told = json.loads(event_body(resolved, public_url=None))
    assert (told["type"], told["timestamp"]) == ("breach.resolved", "2026-03-01T13:00:00+00:00")
    assert (delivery.key, resolved.key) == (
        "hss_mean-3-0123456789ab:open",
        "hss_mean-3-0123456789ab:resolved",
    )


def test_the_signature_is_that_of_the_standard(
    outlet: WebhookOutlet, receiver: Any, clock: Any
) -> None:
    """A receiver computes it from what it got, and refuses what is old."""
    outlet.run()
    [request] = receiver.requests
    id_, timestamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
    assert (id_, timestamp) == ("hss_mean-3-0123456789ab:open", str(int(clock.now.timestamp())))
    text = f"{id_}.{timestamp}.{request.content.decode()}".encode()
    expected = base64.b64encode(hmac.new(b"s3cret", text, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    assert request.headers["idempotency-key"] == id_
    assert "s3cret" not in str(request.headers)


def test_the_documented_check_accepts_it_and_nothing_else(delivery: Delivery) -> None:
    """Receivers are written from that page."""
    page = Path(__file__).parents[3] / "deploy" / "docs" / "outlets.md"
    [code] = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 -- our own page
    body = event_body(delivery, public_url=None)
    now = datetime.now(UTC)
    headers = signed(body, key=b"s3cret", id_=delivery.key, now=now)
    late = signed(body, key=b"s3cret", id_=delivery.key, now=now - timedelta(minutes=6))
    tried = [
        (headers, body, b"s3cret"),
        (headers, body + b" ", b"s3cret"),
        (headers, body, b"other"),
        (late, body, b"s3cret"),
    ]
    assert [names["is_ours"](*each) for each in tried] == [True, False, False, False]


def test_a_known_signature_is_reproduced(clock: Any) -> None:
    """The example of the Standard Webhooks specification's own libraries."""
    headers = signed(
        b'{"test": 2432232314}',
        key=signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        id_="msg_p5jXN8AQM9LWM0D4loKWxJek",
        now=datetime.fromtimestamp(1614265330, clock.now.tzinfo),
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_receiver_that_fails_is_told_again_with_the_same_key(
    outlet: WebhookOutlet, receiver: Any, clock: Any, deliveries: Deliveries, count: Any
) -> None:
    """Pauses double from 2 s on; once it was taken it is never told again."""
    receiver.says(httpx.Response(500), httpx.ConnectTimeout(""), httpx.Response(204))
    told_at = []
    for second in range(30):
        before = len(receiver.requests)
        outlet.run()
        if len(receiver.requests) > before:
            told_at.append(second)
        clock.advance(1)
    assert told_at == [0, 2, 6]
    assert {request.headers["webhook-id"] for request in receiver.requests} == {
        "hss_mean-3-0123456789ab:open"
    }
    assert deliveries.problems == ["status 500", "ConnectTimeout"]
    assert list(count[1]) == ["retried", "retried", "taken"]


def test_a_receiver_that_is_gone_for_days_is_given_up(
    outlet: WebhookOutlet, receiver: Any, clock: Any, deliveries: Deliveries
) -> None:
    """Else the list of events would grow for ever."""
    receiver.says(httpx.Response(404))
    for _ in range(4 * 24 * 4):
        outlet.run()
        clock.advance(900)
    assert deliveries.given_up == ["hss_mean-3-0123456789ab:open"]
    tries = len(receiver.requests)
    assert 72 * 4 <= tries <= 72 * 4 + 12, "every 15 minutes at the end"


def test_after_a_failure_the_others_wait_for_the_next_turn(
    outlet: WebhookOutlet, receiver: Any, deliveries: Deliveries, delivery: Delivery, clock: Any
) -> None:
    """Fifty breaches at once must not each wait for the time limit of a dead receiver."""
    others = [replace(delivery.breach, id=f"b{number}") for number in range(5)]
    deliveries.due += [Due(replace(delivery, breach=each), clock.now) for each in others]
    receiver.says(httpx.ConnectTimeout(""))
    outlet.run()
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64!"])
def test_a_secret_that_cannot_sign_is_refused(secret: str) -> None:
    """An empty key signs as well as none."""
    with pytest.raises(ConfigurationError, match=r"outlets\.webhook\.secret"):
        signing_key(secret)


def test_the_log_names_neither_address_nor_secret(
    outlet: WebhookOutlet, receiver: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Addresses of chat services are credentials."""
    receiver.says(httpx.ConnectError("cannot reach http://receiver.test/hook"))
    outlet.run()
    told = capsys.readouterr().out
    assert "webhook_not_taken" in told
    assert "receiver.test" not in told
    assert "s3cret" not in told
