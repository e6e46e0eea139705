"""Several processes on one database, and processes that are killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from monitor.records import RecordState
from monitor.storage.arrival import insert_new
from monitor.storage.engine import Database, connect
from monitor.storage.queue import SqlRecordQueue
from monitor.storage.schema import schema_is_current
from monitor.storage.tables import records, scores

_PREAMBLE = """
import sys, time, dataclasses
from datetime import UTC, datetime
from monitor.records import *
from monitor.storage.content import ContentCodec, ContentMode, TextHash
from monitor.storage.engine import connect
from monitor.storage.queue import SqlRecordQueue
from monitor.storage import schema, tables
database = connect(sys.argv[1])
queue = SqlRecordQueue(database, clock=lambda: datetime.now(UTC), text_hash=TextHash(b"k" * 16),
                       codec=ContentCodec(ContentMode.FULL))
def result(record_id):
    return ScoredRecord(record_id=record_id, state=RecordState.SKIPPED, reason=Reason.TOO_LONG,
                        detail="", category="", scored_at=datetime.now(UTC), fingerprint="f")
def sampled(record_id):
    decision = SamplingDecision(sampled=True, stratum=Stratum(service="s", model="m", category=""),
                                probability=1.0, epoch=1)
    return SampledRecord(front="f", decision=decision, record=IncomingRecord(
        id=record_id, document="a document", summary="a summary", service="s", model="m",
        received_at=datetime(2026, 1, 1, tzinfo=UTC)))
def ready_and_wait():
    print("ready", flush=True)
    time.sleep(60)
"""

_WORK = """
while leased := queue.lease(sys.argv[2], count=3, seconds=60):
    for item in leased:
        queue.finish(item.lease, result(item.record.id))
        print(item.record.id, flush=True)
"""

_ACCEPT_AND_WAIT = """
assert queue.accept([sampled(f"r{index}") for index in range(5)]) == [True] * 5
ready_and_wait()
"""

_DIE_WHILE_ACCEPTING = """
from monitor.storage.arrival import insert_new
with database.write() as connection:
    insert_new(connection, [sampled("half")], codec=queue._codec, text_hash=queue._hash)
    ready_and_wait()
"""

_DIE_WHILE_FINISHING = """
[item] = queue.lease("dying", count=1, seconds=0.5)
import monitor.storage.queue as module
rows = module.result_rows
def slow(*args, **kwargs):
    found = rows(*args, **kwargs)
    # The state is written after this; the rows are too. Stop in the midst of it.
    end = queue._end
    def stop(*args, **kwargs):
        end(*args, **kwargs)
        ready_and_wait()
    queue._end = stop
    return found
module.result_rows = slow
queue.finish(item.lease, result(item.record.id))
"""

_UPGRADE = """
print(schema.upgrade(database))
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _PREAMBLE + script, *arguments], stdout=subprocess.PIPE, text=True
    )


@contextmanager
def killed_when_ready(script: str, *arguments: str) -> Iterator[None]:
    """The process has reached its point, and was killed without a chance to clean up."""
    process = start(script, *arguments)
    assert process.stdout is not None
    with process.stdout as lines:
        assert lines.readline() == "ready\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    yield


def states(database: Database) -> list[RecordState]:
    with database.read() as connection:
        return list(connection.execute(sa.select(records.c.state)).scalars())


def test_each_record_goes_to_one_worker_process(
    queue: SqlRecordQueue, database_url: str, database: Database, make_sampled: Any
) -> None:
    """Three scorers on one queue: nothing twice, nothing left."""
    names = {f"r{index}" for index in range(60)}
    queue.accept([make_sampled(name) for name in sorted(names)])
    workers = [start(_WORK, database_url, f"worker-{index}") for index in range(3)]
    outputs = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 3
    finished = [name for output in outputs for name in output]
    assert sorted(finished) == sorted(names)
    assert set(states(database)) == {RecordState.SKIPPED}


def test_of_many_who_accept_the_same_records_one_is_told_so(
    queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """Two fronts behind one balancer get the same retry; the order of ids must not deadlock."""
    batch = [make_sampled(f"r{index}") for index in range(50)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(queue.accept, [batch, batch[::-1], batch, batch[::-1]], timeout=60))
    forward = [answers[0], answers[1][::-1], answers[2], answers[3][::-1]]
    assert [sum(column) for column in zip(*forward, strict=True)] == [1] * 50


def test_a_span_that_is_being_stored_is_waited_for(
    queue: SqlRecordQueue, database: Database, make_sampled: Any
) -> None:
    """Two fronts, one span, ids of two kinds: no unique constraint guards it, a lock must."""
    span = {"trace_id": "a" * 32, "span_id": "c" * 16}
    own, derived = make_sampled("own", **span), make_sampled(f"{'a' * 32}-{'c' * 16}", **span)
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            insert_new(connection, [own], codec=queue._codec, text_hash=queue._hash)
            second = pool.submit(queue.accept, [derived])
            with pytest.raises(TimeoutError):
                second.result(timeout=0.5)
        assert second.result(timeout=20) == [False]


def test_accepted_records_survive_a_killed_front(database_url: str, database: Database) -> None:
    """What was answered with 200 is there after kill -9."""
    with killed_when_ready(_ACCEPT_AND_WAIT, database_url):
        assert states(database) == [RecordState.QUEUED] * 5


def test_a_front_killed_before_its_answer_leaves_nothing(
    database_url: str, database: Database, queue: SqlRecordQueue, make_sampled: Any
) -> None:
    """Half a transaction is none, and its lock dies with the process."""
    with killed_when_ready(_DIE_WHILE_ACCEPTING, database_url):
        assert states(database) == []
        assert queue.accept([make_sampled("half")]) == [True]


def test_a_scorer_killed_while_it_finishes_loses_its_result_and_no_record(
    database_url: str, database: Database, queue: SqlRecordQueue, make_sampled: Any, clock: Any
) -> None:
    """The record is neither half scored nor stuck: the next scorer gets it."""
    queue.accept([make_sampled("r1")])
    with killed_when_ready(_DIE_WHILE_FINISHING, database_url):
        assert states(database) == [RecordState.LEASED]
        with database.read() as connection:
            assert connection.execute(sa.select(sa.func.count()).select_from(scores)).scalar() == 0
        # The dead one leased by the real clock.
        clock.now = clock.now.replace(year=clock.now.year + 50)
        [again] = queue.lease("next", count=1, seconds=60)
        assert (again.record.id, again.lease.attempt) == ("r1", 2)


def test_processes_that_upgrade_at_once_agree(empty_database_url: str) -> None:
    """A sidecar's front and scorers start together on a new file."""
    upgraders = [start(_UPGRADE, empty_database_url) for _ in range(3)]
    outputs = [upgrader.communicate(timeout=60)[0] for upgrader in upgraders]
    assert ([u.returncode for u in upgraders], outputs) == ([0] * 3, ["None\n"] * 3)
    database = connect(empty_database_url)
    assert schema_is_current(database)
    database.close()


@pytest.mark.parametrize("threads", [8])
def test_threads_share_one_queue(
    queue: SqlRecordQueue, make_sampled: Any, make_result: Any, threads: int
) -> None:
    """The front calls the queue from its pool of threads."""
    queue.accept([make_sampled(f"r{index}") for index in range(40)])

    def work(name: int) -> list[str]:
        done = []
        while leased := queue.lease(f"w{name}", count=2, seconds=60):
            for item in leased:
                queue.finish(item.lease, make_result(item.record.id))
                done.append(item.record.id)
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = [name for names in pool.map(work, range(threads)) for name in names]
    assert sorted(done) == sorted(f"r{index}" for index in range(40))
