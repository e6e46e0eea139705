"""Sending evaluation events to an OTLP endpoint, each at least once.

A stored cursor says up to where they were taken; it moves on only behind an answer. After a
crash, or while two fronts believe that it is their turn, some come twice. Nothing waits for the
endpoint but this job: what it does not take is sent again later, in pauses that double.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import httpx
import structlog
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from monitor.outlets.evaluation_events import Level, export_request
from monitor.outlets.retries import TURN_SECONDS, Backoff, Outcome, post
from monitor.ports import Clock
from monitor.storage.score_feed import FeedPosition
from monitor.storage.score_rows import ScoreRow

log = structlog.get_logger(__name__)

BATCH = 200
"""Records a request; up to four events each, about 200 KB together."""
BACKOFF = Backoff(first=5, longest=300)
_REFUSES_THE_DATA = frozenset({400, 413, 422})
"""Sending the same again would not help; 401 or 404 are about us, and mended by somebody."""
_HEADERS = {"content-type": "application/x-protobuf", "user-agent": "hss-monitor"}


class ScoreFeed(Protocol):
    """Scored records by (finished_at, id), each at least once; of the outlet that it is made for.

    Every method raises `DatabaseUnavailable` where the database does not answer.
    """

    def start(self) -> FeedPosition:
        """Where the last `move` left off; at first now."""

    def read(self, after: FeedPosition, *, limit: int) -> list[ScoreRow]:
        """What lies behind a position, up to where no record can come in any more."""

    def move(self, position: FeedPosition) -> None:
        """Be done with everything up to a position; durable on return."""


class EventOutlet:
    """The job that sends what was scored since its last turn."""

    def __init__(
        self,
        feed: ScoreFeed,
        client: httpx.Client,
        *,
        url: str,
        headers: Mapping[str, str],
        levels: Mapping[str, Level],
        public_url: str | None,
        clock: Clock,
        count: Callable[[str], None],
    ) -> None:
        """`count` is told `taken`, `retried` or `refused` for each request."""
        self._feed = feed
        self._client = client
        self._url = url
        self._headers = {**_HEADERS, **headers}
        self._levels = levels
        self._public_url = public_url
        self._clock = clock
        self._count = count
        self._failures = 0
        self._not_before: datetime | None = None

    def run(self) -> int:
        """Send until nothing is left or the endpoint fails; how many records were sent."""
        began = self._clock()
        pause = timedelta(0) if self._not_before is None else self._not_before - began
        # Longer than any pause: the clock was set back since.
        if timedelta(0) < pause <= timedelta(seconds=BACKOFF.longest):
            return 0
        sent, limit = 0, BATCH
        position = self._feed.start()
        while self._clock() - began < timedelta(seconds=TURN_SECONDS):
            rows = self._feed.read(position, limit=limit)
            if not rows:
                break
            outcome = self._send(rows)
            if outcome.status in _REFUSES_THE_DATA and len(rows) > 1:
                # One of them is not to the endpoint's liking: halving finds it.
                limit = len(rows) // 2
                continue
            if outcome.status in _REFUSES_THE_DATA:
                log.error("event_refused", record=rows[0].record_id, problem=outcome.problem)
                self._count("refused")
            elif not outcome.taken:
                self._wait(outcome)
                break
            else:
                self._failures = 0
                self._count("taken")
                sent += len(rows)
                limit = min(BATCH, 2 * limit)
            last = rows[-1]
            position = FeedPosition(finished_at=last.finished_at, record_id=last.record_id)
            self._feed.move(position)
        return sent

    def _send(self, rows: Sequence[ScoreRow]) -> Outcome:
        request = export_request(
            rows, levels=self._levels, public_url=self._public_url, now=self._clock()
        )
        content: bytes = request.SerializeToString()
        outcome, answer = post(
            self._client, self._url, content=content, headers=self._headers, clock=self._clock
        )
        if outcome.taken:
            _note_rejected(answer)
        return outcome

    def _wait(self, outcome: Outcome) -> None:
        self._failures += 1
        pause = BACKOFF.pause(self._failures, asked=outcome.retry_after)
        self._not_before = self._clock() + timedelta(seconds=pause)
        log.warning("events_not_taken", problem=outcome.problem, retry_in=pause)
        self._count("retried")


def _note_rejected(answer: bytes) -> None:
    """What an endpoint took in part must not be sent again; it says how much it left."""
    try:
        rejected = ExportLogsServiceResponse.FromString(answer).partial_success
    except DecodeError:
        return  # taken all the same: the status said so
    if rejected.rejected_log_records:
        log.warning("events_rejected", count=rejected.rejected_log_records)
