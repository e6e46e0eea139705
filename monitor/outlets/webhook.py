"""Telling a webhook when a breach opens and when it is resolved.

Signed as the Standard Webhooks specification has it, for which receivers find libraries:

    signature = base64(HMAC-SHA256(key, f"{webhook-id}.{webhook-timestamp}.{body}"))

`webhook-id` is the same at every attempt, and stands in `Idempotency-Key` as well: a receiver
whose answer was lost gets an event again, and knows it by that. No text of a record is sent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Protocol

import httpx
import structlog

from monitor.errors import ConfigurationError
from monitor.findings import BreachRow
from monitor.outlets.links import breach_url
from monitor.outlets.retries import TURN_SECONDS, Backoff, post
from monitor.ports import Clock
from monitor.storage.deliveries import OPEN, Delivery

log = structlog.get_logger(__name__)

BACKOFF = Backoff(first=2, longest=900)
GIVEN_UP_AFTER = timedelta(days=3)
"""Whoever has not been told of a breach for so long, has learnt of it elsewhere."""
_ENCODED_KEY = "whsec_"


class Deliveries(Protocol):
    """The events of breaches, each queued once whoever looks; an opening before its resolution.

    Every method raises `DatabaseUnavailable` where the database does not answer.
    """

    def queue(self, *, since: datetime) -> int:
        """Queue what has no event yet, of breaches that are open or opened since; how many."""

    def claim(self, *, seconds: float) -> Delivery | None:
        """The event that has been due for longest, nobody else's for so long; None without any."""

    def delivered(self, delivery: Delivery) -> None:
        """It was taken: never again."""

    def postpone(self, delivery: Delivery, *, seconds: float, problem: str) -> None:
        """It was not taken: again after so long."""

    def give_up(self, delivery: Delivery, *, problem: str) -> None:
        """It was not taken for too long: never again."""


class WebhookOutlet:
    """The job that queues the events of breaches and delivers them."""

    def __init__(
        self,
        deliveries: Deliveries,
        client: httpx.Client,
        *,
        url: str,
        secret: str,
        public_url: str | None,
        timeout_seconds: float,
        since: Callable[[], datetime],
        clock: Clock,
        count: Callable[[str], None],
    ) -> None:
        """`since` is when the webhook was first configured: what opened and was resolved before
        is not told any more. `count` is told `taken`, `retried` or `refused` for each request.
        """
        self._deliveries = deliveries
        self._client = client
        self._url = url
        self._key = signing_key(secret)
        self._public_url = public_url
        self._claim_seconds = 2 * timeout_seconds + 10
        self._since = since
        self._clock = clock
        self._count = count

    def run(self) -> int:
        """Deliver what is due; how many events were taken."""
        began = self._clock()
        self._deliveries.queue(since=self._since())
        taken = 0
        while self._clock() - began < timedelta(seconds=TURN_SECONDS):
            delivery = self._deliveries.claim(seconds=self._claim_seconds)
            if delivery is None:
                break
            if not self._deliver(delivery):
                # The others would fare no better now.
                break
            taken += 1
        return taken

    def _deliver(self, delivery: Delivery) -> bool:
        body = event_body(delivery, public_url=self._public_url)
        headers = signed(body, key=self._key, id_=delivery.key, now=self._clock())
        outcome, _ = post(self._client, self._url, content=body, headers=headers, clock=self._clock)
        about = {"breach": delivery.breach.id, "event_type": delivery.event}
        if outcome.taken:
            self._deliveries.delivered(delivery)
            self._count("taken")
            log.info("breach_told", attempt=delivery.attempt, **about)
            return True
        problem = outcome.problem or "no answer"
        if self._clock() - delivery.queued_at >= GIVEN_UP_AFTER:
            self._deliveries.give_up(delivery, problem=problem)
            self._count("refused")
            log.error("breach_not_told", problem=problem, attempts=delivery.attempt, **about)
            return False
        pause = BACKOFF.pause(delivery.attempt, asked=outcome.retry_after)
        self._deliveries.postpone(delivery, seconds=pause, problem=problem)
        self._count("retried")
        log.warning("webhook_not_taken", problem=problem, retry_in=pause, **about)
        return False


def event_body(delivery: Delivery, *, public_url: str | None) -> bytes:
    """The JSON of one event: what the breach is, and where to look at it."""
    breach = delivery.breach
    happened = breach.opened_at if delivery.event == OPEN else breach.resolved_at
    body: dict[str, Any] = {
        "type": "breach.opened" if delivery.event == OPEN else "breach.resolved",
        "timestamp": _iso(happened),
        "data": {"breach": _facts(breach)},
    }
    if public_url is not None:
        body["data"]["links"] = {"breach": breach_url(public_url, breach.id)}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def signed(body: bytes, *, key: bytes, id_: str, now: datetime) -> dict[str, str]:
    """The headers of a request with this body."""
    timestamp = str(int(now.timestamp()))
    text = f"{id_}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "user-agent": "hss-monitor",
        "webhook-id": id_,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature}",
        "idempotency-key": id_,
    }


def signing_key(secret: str) -> bytes:
    """The key of a secret: base64 behind `whsec_`, else the secret's own characters.

    Raises `ConfigurationError`.
    """
    if not secret.startswith(_ENCODED_KEY):
        key = secret.encode()
    else:
        try:
            key = base64.b64decode(secret.removeprefix(_ENCODED_KEY), validate=True)
        except binascii.Error:
            raise ConfigurationError(
                "outlets.webhook.secret: behind 'whsec_' there is no base64; copy it again"
            ) from None
    if not key:
        raise ConfigurationError(
            "outlets.webhook.secret: it is empty; use what `openssl rand -hex 32` prints"
        )
    return key


def _facts(breach: BreachRow) -> dict[str, Any]:
    return {
        "id": breach.id,
        "threshold": breach.threshold,
        "severity": breach.severity,
        "service": breach.series.service,
        "model": breach.series.model,
        "category": breach.series.category,
        "state": breach.state,
        "signal": breach.signal,
        "statistic": breach.statistic,
        "comparison": breach.comparison,
        "limit": breach.limit,
        "value": breach.value,
        "worst": breach.worst,
        "records": breach.records,
        "window_seconds": breach.window_seconds,
        "exceeded_since": _iso(breach.exceeded_since),
        "opened_at": _iso(breach.opened_at),
        "resolved_at": _iso(breach.resolved_at),
        "acknowledged_at": _iso(breach.acknowledged_at),
    }


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
