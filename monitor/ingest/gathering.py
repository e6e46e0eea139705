"""From sightings of calls to records handed to the intake."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from monitor.ingest.capture import record_of
from monitor.ingest.extraction import Extraction
from monitor.ingest.join import JoinBuffer, Orphan
from monitor.ingest.redaction import Redaction
from monitor.ingest.sighting import Key, Sighting
from monitor.ingest.switches import missing_answer, missing_call
from monitor.ports import Clock, Intake
from monitor.records import IncomingRecord, Reason

log = structlog.get_logger(__name__)

_SIGHTINGS_AT_A_TIME = 256
_MOST_SERVICES_TOLD = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ContentMissing:
    """A service whose calls come without their texts, and what to change there."""

    service: str
    scope: str
    """Of the instrumentation."""
    remedy: str


class Gathering:
    """Joins spans with their events, cuts out the documents and hands the records over.

    Nothing is counted and no half is forgotten before the intake has made the records
    durable: where it refuses, the sender's next try finds everything as it was.
    """

    def __init__(
        self,
        *,
        intake: Intake,
        extraction: Extraction,
        redaction: Redaction | None,
        join: JoinBuffer,
        clock: Clock,
    ) -> None:
        self._intake = intake
        self._extraction = extraction
        self._redaction = redaction
        self._join = join
        self._clock = clock
        self._told: dict[tuple[bool, str], ContentMissing] = {}

    async def take(self, sightings: Iterable[Sighting]) -> None:
        """Take in what one request told. Raises what `Intake.take` raises."""
        now = self._clock()
        ready: dict[Key, Sighting] = {}
        for number, sighting in enumerate(_by_key(sightings)):
            if number % _SIGHTINGS_AT_A_TIME == 0:
                await asyncio.sleep(0)  # 16 MiB of spans must not hold up other requests
            if (whole := self._join.meet(sighting, now)) is not None:
                ready[whole.key] = whole
        calls = [sighting for sighting in ready.values() if not sighting.replay]
        outcomes = await asyncio.to_thread(self._captured, calls, now) if calls else []
        records = [outcome for outcome in outcomes if isinstance(outcome, IncomingRecord)]
        if records:
            await self._intake.take(records)
        for key in ready:
            self._join.settle(key)
        if replays := len(ready) - len(calls):
            self._intake.replay_ignored(replays)
        skipped = Counter(outcome for outcome in outcomes if isinstance(outcome, Reason))
        for reason, count in skipped.items():
            self._intake.skipped(reason, count)
        self.sweep()

    def sweep(self) -> None:
        """Count what waited in vain. To be called every few seconds, from the event loop."""
        for orphan in self._join.orphans(self._clock()):
            self._intake.skipped(Reason.CONTENT_MISSING if orphan.span else Reason.SPAN_MISSING)
            self._tell(orphan)

    @property
    def content_missing(self) -> tuple[ContentMissing, ...]:
        """The services of which a half was missing since the start, each once."""
        return tuple(self._told.values())

    def _captured(
        self, sightings: Sequence[Sighting], now: datetime
    ) -> list[IncomingRecord | Reason]:
        outcomes: list[IncomingRecord | Reason] = []
        for sighting in sightings:
            outcome = record_of(sighting, extraction=self._extraction, received_at=now)
            if self._redaction is not None and isinstance(outcome, IncomingRecord):
                outcome = self._redaction.record(outcome)
            outcomes.append(outcome)
        return outcomes

    def _tell(self, orphan: Orphan) -> None:
        """Say what to change in a service: once for each service, not for each call."""
        known = orphan.span, orphan.service
        if known in self._told or len(self._told) >= _MOST_SERVICES_TOLD:
            return
        remedy = missing_answer(orphan.scope) if orphan.span else missing_call(orphan.scope)
        told = ContentMissing(service=orphan.service, scope=orphan.scope, remedy=remedy)
        self._told[known] = told
        log.warning(
            "content_missing" if orphan.span else "span_missing",
            service=told.service,
            scope=told.scope,
            remedy=told.remedy,
        )


def _by_key(sightings: Iterable[Sighting]) -> Iterable[Sighting]:
    """The sightings of one request, those of one call joined; events of no call apart."""
    joined: dict[Key, Sighting] = {}
    for sighting in sightings:
        known = joined.get(sighting.key)
        if known is None or not all(sighting.key):
            if not all(sighting.key):
                yield sighting
                continue
            joined[sighting.key] = sighting
        else:
            joined[sighting.key] = known.joined(sighting)
    yield from joined.values()
