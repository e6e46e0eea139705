"""Bringing spans together with content that arrives only in `/v1/logs`.

Exporters of spans and logs run on their own timers, so either half may come first. A half
waits here under (trace id, span id), within limits of number, bytes and time; what is
dropped by a limit is counted. A log record carries no trace state, so where its trace id does not
tell either, only its span says that it belongs to a replay: an event without its span never
becomes a record.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.ingest.call import GenAiCall
from monitor.ingest.sighting import Key, Sighting
from monitor.ports import SET_BACK

_ENTRY_BYTES = 2_048
"""What an entry takes besides its texts."""
_SETTLED_PER_WAITING = 4


@dataclass(frozen=True, slots=True)
class Orphan:
    """A half whose other half did not come in time; without its texts."""

    span: bool
    """Whether the span came (and no content), or the events (and no span)."""
    service: str
    scope: str


@dataclass(frozen=True, slots=True)
class _Waiting:
    sighting: Sighting
    since: datetime
    size: int


class JoinBuffer:
    """Spans and events that wait for each other. Used from the event loop only.

    `meet` never forgets what it returned: a key is dropped by `settle`, once its record is
    durable. So a client that is told to send again later finds the other half still here.
    """

    def __init__(
        self, *, seconds: float = 30.0, records: int = 2_000, bytes: int = 32 * 2**20
    ) -> None:
        self._wait = timedelta(seconds=seconds)
        self._most_records = records
        self._most_bytes = bytes
        self._waiting: OrderedDict[Key, _Waiting] = OrderedDict()
        self._settled: OrderedDict[Key, None] = OrderedDict()
        self._orphans: list[Orphan] = []
        self.size = 0
        """Bytes that wait."""

    @property
    def waiting(self) -> int:
        """Halves that wait."""
        return len(self._waiting)

    def meet(self, sighting: Sighting, now: datetime) -> Sighting | None:
        """Everything known of the call, if that is all; `None` while something is missing.

        Also `None` for a call that was settled before.
        """
        key = sighting.key
        if key in self._settled:
            return None
        if not all(key):
            self._drop(sighting)
            return None
        waiting = self._waiting.get(key)
        known = waiting.sighting.joined(sighting) if waiting else sighting
        if sighting.ready or (waiting is not None and known.ready):
            return known
        self._keep(known, since=waiting.since if waiting else now)
        return None

    def settle(self, key: Key) -> None:
        """Forget a call, and pass over whatever else comes of it."""
        if waiting := self._waiting.pop(key, None):
            self.size -= waiting.size
        self._settled[key] = None
        self._settled.move_to_end(key)
        while len(self._settled) > _SETTLED_PER_WAITING * self._most_records:
            self._settled.popitem(last=False)

    def orphans(self, now: datetime) -> list[Orphan]:
        """Halves that were dropped since the last call: waited too long, or over a limit."""
        while self._waiting:
            oldest = next(iter(self._waiting.values()))
            # What came from the future came before the clock was set back, and holds up the rest.
            if now - self._wait < oldest.since <= now + SET_BACK:
                break
            self._evict()
        dropped, self._orphans = self._orphans, []
        return dropped

    def _keep(self, sighting: Sighting, *, since: datetime) -> None:
        entry = _Waiting(sighting, since, _size(sighting.call))
        if old := self._waiting.get(sighting.key):
            self.size -= old.size
        self._waiting[sighting.key] = entry
        self.size += entry.size
        while self.size > self._most_bytes or len(self._waiting) > self._most_records:
            self._evict()

    def _evict(self) -> None:
        _, entry = self._waiting.popitem(last=False)
        self.size -= entry.size
        self._drop(entry.sighting)

    def _drop(self, sighting: Sighting) -> None:
        self._orphans.append(Orphan(sighting.span, sighting.service, sighting.scope))


def _size(call: GenAiCall) -> int:
    texts = [message.content for message in call.messages or ()]
    texts += [choice.text for choice in call.choices or () if choice.text]
    return _ENTRY_BYTES + sum(map(sys.getsizeof, texts))
