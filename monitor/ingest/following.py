"""From the lines of a followed log to records handed to the intake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jmespath
import structlog

from monitor.errors import DatabaseUnavailable, MalformedInput, Overloaded
from monitor.ingest import json_parts
from monitor.ingest.log_file import Line
from monitor.ingest.position import PositionFile
from monitor.ingest.redaction import Redaction
from monitor.ingest.submission import record_from
from monitor.ingest.tail import Tail
from monitor.ports import Arrival, Clock
from monitor.records import IncomingRecord

log = structlog.get_logger(__name__)

_LINES = 500
"""Lines that become durable together."""
_BATCHES = 20
"""In one turn, so that whoever has to stop it need not wait for the end of a long log."""


class LineReader:
    """Reads a record from a line of JSON.

    `fields` maps a record's field to the JMESPath of it in the line; without any the line is a
    record as `POST /v1/records` takes it. A record without an id of its own gets that of its
    line, so a line that is read twice is one record.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = {name: jmespath.compile(path) for name, path in fields.items()}

    def record(self, line: Line, *, now: Clock) -> IncomingRecord | None:
        """`None` for a replay of our own. Raises `MalformedInput`, never quoting a text."""
        item: Any = json_parts.value(json_parts.whole(line.text))
        if self._fields:
            item = {name: _found(name, path, item) for name, path in self._fields.items()}
        if not isinstance(item, Mapping):
            raise MalformedInput("line", "it is no object", "write one JSON object a line")
        has_own = item.get("id") or (item.get("trace_id") and item.get("span_id"))
        own: dict[str, Any] = {} if has_own else {"id": f"line-{line.identity}"}
        return record_from({**item, **own}, received_at=now())


def _found(name: str, path: Any, item: Any) -> Any:
    """What stands there; functions of JMESPath raise where the line has something else."""
    try:
        return path.search(item)
    except (jmespath.exceptions.JMESPathError, RecursionError):
        # The original message quotes the value, which may be a text.
        raise MalformedInput(
            name,
            f"the path of ingest.tail.fields.{name} does not fit the line",
            "give functions only what every line has, as in not_null(texts, `[]`)",
        ) from None


@dataclass(kw_only=True)
class Taken:
    """What came of a turn."""

    accepted: int = 0
    """Records that were not known."""
    sampled: int = 0
    known: int = 0
    """Records that were queued before: an earlier run read the same lines."""
    rejected: int = 0
    """Lines that are no record."""
    replays: int = 0
    """Replays of our own, passed over."""


class Following:
    """Hands over what a log has gained since the last turn.

    The position is kept after the records of a batch are durable: a crash in between reads these
    lines again, and their ids show that they are known. Where the intake refuses, the same lines
    are handed over at the next turn. Used by one thread at a time.
    """

    def __init__(
        self,
        tail: Tail,
        position: PositionFile,
        *,
        reader: LineReader,
        take: Callable[[Sequence[IncomingRecord]], Sequence[Arrival]],
        rejected: Callable[[int], None],
        replays: Callable[[int], None],
        redaction: Redaction | None,
        clock: Clock,
    ) -> None:
        self._tail = tail
        self._position = position
        self._reader = reader
        self._take = take
        self._rejected = rejected
        self._replays = replays
        self._redaction = redaction
        self._clock = clock
        self._batch: list[Line] = []

    def turn(self) -> Taken:
        """Take in what is there, up to 10,000 lines or until the intake takes no more."""
        taken = Taken()
        for _ in range(_BATCHES):
            self._batch = self._batch or self._tail.read(_LINES)
            if not self._batch:
                break
            records, wrong, replays = self._records(self._batch)
            try:
                arrivals = Counter(self._take(records) if records else ())
            except (Overloaded, DatabaseUnavailable) as error:
                log.warning("log_waits", problem=str(error))
                break
            taken.known += arrivals[Arrival.KNOWN]
            taken.sampled += arrivals[Arrival.QUEUED]
            taken.accepted += len(records) - arrivals[Arrival.KNOWN]
            taken.rejected += wrong
            taken.replays += replays
            self._rejected(wrong)
            self._replays(replays)
            self._batch = []
            if (reached := self._tail.position) is not None:
                self._position.save(reached)
        return taken

    def close(self) -> None:
        """Close the log; the kept position says where the next one goes on."""
        self._tail.close()

    def _records(self, lines: Sequence[Line]) -> tuple[list[IncomingRecord], int, int]:
        """The records, how many lines are none, and how many are replays of our own."""
        records: list[IncomingRecord] = []
        faults: dict[str, MalformedInput] = {}
        wrong = replays = 0
        for line in lines:
            try:
                record = self._reader.record(line, now=self._clock)
            except MalformedInput as fault:
                faults.setdefault(fault.field, fault)
                wrong += 1
                continue
            if record is None:
                replays += 1
                continue
            records.append(record if self._redaction is None else self._redaction.record(record))
        for each in faults.values():
            log.warning("log_lines_rejected", lines=wrong, problem=str(each))
        return records, wrong, replays
