"""`hss-monitor ingest`: records from a file into the queue, without a running sidecar."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Annotated, BinaryIO

import structlog
import typer

from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, note
from monitor.errors import DatabaseUnavailable, UsageError
from monitor.front import Front
from monitor.ingest.following import Taken
from monitor.ingest.submission import read_submission
from monitor.ports import Arrival
from monitor.settings import Settings
from monitor.stores import now, open_stores

log = structlog.get_logger(__name__)

CHUNK = 200
"""Lines that become durable together."""


def ingest(
    file: Annotated[Path, typer.Argument(help="Records as JSON lines; - is standard input.")],
    config: Config = None,
    json_: Json = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Go on with what is written, through rotation by rename and restarts, until told "
            "to stop; fields are mapped and the place is kept as ingest.tail says.",
        ),
    ] = False,
) -> None:
    """Queue records for scoring; a record that is known already is not queued again.

    Each line is an object with document, summary, service, model and, where known, id,
    category, trace_id, span_id, started_at, request.
    """
    settings = settings_of(config)
    if follow:
        _follow(file, settings, json_=json_)
        return
    total = Taken()
    line = 0
    with open_stores(settings) as stores, _lines(file) as source:
        front = Front(settings, stores)
        while chunk := list(islice(source, CHUNK)):
            taken = read_submission(b"".join(chunk), lines=True, received_at=now())
            records = [
                record if front.redaction is None else front.redaction.record(record)
                for record in taken.records
            ]
            arrivals = Counter(front.intake.arrivals(records))
            total.known += arrivals[Arrival.KNOWN]
            total.sampled += arrivals[Arrival.QUEUED]
            total.accepted += len(records) - arrivals[Arrival.KNOWN]
            total.rejected += len(taken.rejected)
            total.replays += taken.replays
            for fault in taken.rejected:
                note(f"record {line + fault.index + 1}: {fault.field}: {fault.remedy}")
            line += len(chunk)
        front.book.flush()
    _told(total, json_=json_)
    if total.rejected:
        raise typer.Exit(1)


def _follow(file: Path, settings: Settings, *, json_: bool) -> None:
    if str(file) == "-":
        raise UsageError("FILE: '-' cannot be followed; name a file, or leave --follow out")
    stopping = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    total = Taken()
    with open_stores(settings) as stores:
        front = Front(settings, stores)
        with closing(front.following(file)) as following:
            while not stopping.is_set():
                taken = following.turn()
                total.accepted += taken.accepted
                total.sampled += taken.sampled
                total.known += taken.known
                total.rejected += taken.rejected
                total.replays += taken.replays
                _renew_epoch(front)
                if not taken.accepted + taken.known:
                    stopping.wait(settings.ingest.tail.poll_seconds)
        front.book.flush()
    _told(total, json_=json_)


def _renew_epoch(front: Front) -> None:
    """Sample at the rates of now; where the database does not answer, at those known last."""
    try:
        front.sampler.use(front.book.advance())
    except DatabaseUnavailable as error:
        log.warning("sampling_epoch_waits", problem=str(error))


def _told(total: Taken, *, json_: bool) -> None:
    if json_:
        emit(total)
        return
    known = f", {total.known} known already" if total.known else ""
    replays = f", {total.replays} replays of our own passed over" if total.replays else ""
    note(
        f"{total.accepted} accepted, {total.sampled} of them sampled{known}{replays}, "
        f"{total.rejected} rejected"
    )


@contextmanager
def _lines(file: Path) -> Iterator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        with file.open("rb") as source:
            yield source
    except OSError as error:
        raise UsageError(
            f"FILE: {str(file)!r} cannot be read ({error.strerror}); name a readable file"
        ) from None
