"""What reaches the sidecar, and what is counted where nothing does."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.client import AsyncClient, Client, Counts, wire

DOCUMENT = "The council approved the new bridge on Monday."
SUMMARY = "The bridge was approved."


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    from monitor.client import delivery

    monkeypatch.setattr(delivery, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(delivery, "_LONGEST_PAUSE", 0.05)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def make(url: str, **options: Any) -> Client:
    return Client(url, service="newsroom", model="m-1", **{"linger_seconds": 0.01} | options)


def test_a_record_arrives_with_the_defaults_and_an_id(stand: Any) -> None:
    """An id of its own makes a batch that is sent twice count once."""
    with make(stand.url) as client:
        assert client.send(DOCUMENT, SUMMARY, category="law") is True
        assert client.flush(5) is True
    [record] = stand.records
    assert len(record.pop("id")) == 36
    assert record == {
        "document": DOCUMENT,
        "summary": SUMMARY,
        "service": "newsroom",
        "model": "m-1",
        "category": "law",
    }
    assert client.counts == Counts(sent=1)


def test_a_traced_record_is_identified_by_its_span(stand: Any) -> None:
    """Else the same call would be scored once from its span and once from here."""
    with make(stand.url) as client:
        client.send(DOCUMENT, SUMMARY, trace_id="a" * 32, span_id="b" * 16)
    assert "id" not in stand.records[0]


def test_every_text_survives(stand: Any) -> None:
    """Texts are encoded in slices, and may hold anything that a string may."""
    text = '"\\ \n\x00é漢😀' * 9_000 + "\ud83d"
    when = datetime(2026, 11, 30, 8, tzinfo=UTC)
    with make(stand.url) as client:
        client.send(text, "", started_at=when, request={"messages": [{"content": text}]})
    [record] = stand.records
    assert record["document"] == text
    assert record["summary"] == ""
    assert record["started_at"] == "2026-11-30T08:00:00+00:00"
    assert record["request"]["messages"][0]["content"] == text


def test_records_travel_in_batches_over_one_connection(stand: Any) -> None:
    """A request for each would cost the sidecar more than the records."""
    with make(stand.url, linger_seconds=0.2) as client:
        for number in range(250):
            client.send(DOCUMENT, SUMMARY, id=str(number))
    assert [len(request) for request in stand.requests] == [100, 100, 50]
    assert [record["id"] for record in stand.records] == [str(n) for n in range(250)]


def test_large_texts_make_small_batches(stand: Any) -> None:
    """The sidecar takes large bodies in one at a time."""
    with make(stand.url, linger_seconds=0.2) as client:
        for _ in range(3):
            client.send("x" * 300_000, SUMMARY)
    assert [len(request) for request in stand.requests] == [1, 1, 1]


def test_a_token_is_read_anew_for_every_batch(stand: Any) -> None:
    """Mounted secrets are rotated while a service runs."""
    tokens = iter(["first", "second"])
    with make(stand.url, token=lambda: next(tokens)) as client:
        for _ in range(2):
            client.send(DOCUMENT, SUMMARY)
            client.flush(5)
    assert [headers["authorization"] for headers in stand.headers] == [
        "Bearer first",
        "Bearer second",
    ]


def test_records_wait_for_a_sidecar_that_is_away(stand: Any) -> None:
    """It is restarted now and then; nothing may be lost by that."""
    stand.stop()
    client = make(stand.url)
    client.send(DOCUMENT, SUMMARY, id="early")
    time.sleep(0.1)
    assert client.counts == Counts(waiting=1)
    stand.start()
    wait_for(lambda: client.counts.sent == 1)
    assert [record["id"] for record in stand.records] == ["early"]
    client.close()


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
def test_a_passing_refusal_is_tried_again(stand: Any, status: int) -> None:
    """An overloaded or just misconfigured sidecar may take the same batch later."""
    stand.statuses = [status, status]
    with make(stand.url) as client:
        client.send(DOCUMENT, SUMMARY)
        assert client.flush(5) is True
    assert client.counts == Counts(sent=1)


def test_a_sidecar_that_refuses_is_left_alone_in_between(
    stand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try encodes and sends the batch again, on the service's own CPU."""
    tries: list[float] = []

    def refuse(connection: wire.Connection, records: Any) -> wire.Answer:
        tries.append(time.monotonic())
        return wire.Answer(status=503, why="HTTP 503")

    monkeypatch.setattr(wire.Connection, "post", refuse)
    client = make(stand.url, linger_seconds=0.0)
    client.send(DOCUMENT, SUMMARY)
    wait_for(lambda: bool(tries) and tries[-1] - tries[0] > 0.3)
    soon = [at for at in tries if at - tries[0] <= 0.3]
    assert len(soon) <= 9, "after 10, 20 and 40 ms, then every 50 ms"
    client.close(0)


def test_a_batch_that_cannot_be_taken_is_not_sent_for_ever(stand: Any) -> None:
    """It would block all that come after it."""
    stand.statuses = [400]
    with make(stand.url) as client:
        client.send(DOCUMENT, SUMMARY)
        client.flush(5)
        client.send(DOCUMENT, SUMMARY)
    assert client.counts == Counts(sent=1, rejected=1)


def test_a_batch_that_is_too_large_is_halved(stand: Any) -> None:
    """Only the record that is too large itself is lost."""
    stand.statuses = [413, 413]
    with make(stand.url, linger_seconds=0.2) as client:
        for number in range(4):
            client.send(DOCUMENT, SUMMARY, id=str(number))
    assert [record["id"] for record in stand.records] == ["0", "1", "2", "3"]
    assert client.counts == Counts(sent=4)


def test_rejected_records_are_counted(stand: Any) -> None:
    """A field that is always wrong must show up somewhere."""
    stand.rejecting = lambda record: record["id"] == "wrong"
    with make(stand.url) as client:
        client.send(DOCUMENT, SUMMARY, id="wrong")
        client.send(DOCUMENT, SUMMARY, id="right")
    assert client.counts == Counts(sent=1, rejected=1)


def test_the_oldest_are_dropped_and_counted(stand: Any) -> None:
    """The newest traffic is what a person on call wants to see scored."""
    stand.hanging.set()
    client = make(stand.url, most_records=3)
    client.send(DOCUMENT, SUMMARY, id="under way")
    wait_for(lambda: client.counts.waiting == 1 and not client._buffer)
    for number in range(5):
        assert client.send(DOCUMENT, SUMMARY, id=str(number)) is True
    assert client.counts == Counts(waiting=4, dropped=2)
    stand.hanging.clear()
    assert client.flush(5) is True
    assert [record["id"] for record in stand.records] == ["under way", "2", "3", "4"]
    client.close()


def test_the_buffer_is_bounded_in_characters(stand: Any) -> None:
    """A thousand long documents are as bad as a million short ones."""
    stand.stop()
    client = make(stand.url, most_characters=10_000)
    assert client.send("x" * 20_000, SUMMARY) is False
    for _ in range(5):
        client.send("x" * 4_000, SUMMARY)
    wait_for(lambda: client._under_way == ())
    assert client.counts.dropped == 4
    assert client._characters <= 10_000
    client.close(0)


@pytest.mark.parametrize(
    "arguments",
    [{"document": None}, {"summary": 5}, {"request": {"bad": {1, 2}}}, {"started_at": object()}],
)
def test_nonsense_is_counted_and_never_raised(stand: Any, arguments: dict[str, Any]) -> None:
    """A service must not fail because of its monitoring."""
    with make(stand.url) as client:
        client.send(**{"document": DOCUMENT, "summary": SUMMARY} | arguments)
        client.send(DOCUMENT, SUMMARY)
    assert client.counts == Counts(sent=1, rejected=1)


def test_closing_keeps_to_its_time_and_counts_the_rest(stand: Any) -> None:
    """A service that ends must not wait for a sidecar that hangs."""
    stand.hanging.set()
    client = make(stand.url)
    for _ in range(3):
        client.send(DOCUMENT, SUMMARY)
    began = time.monotonic()
    assert client.close(0.2) is False
    assert time.monotonic() - began < 5.0, "the sidecar would hang for ever"
    assert client.counts == Counts(dropped=3)
    assert client.send(DOCUMENT, SUMMARY) is False
    assert client.counts == Counts(dropped=4)


@pytest.mark.parametrize("url", ["localhost:8318", "http://", "http://x:99999", "http://[::1"])
def test_a_url_that_cannot_be_called_is_told_at_once(url: str) -> None:
    """Later nothing is raised any more."""
    with pytest.raises(ValueError, match="is no http"):
        Client(url)


def test_an_answer_without_an_end_takes_no_memory() -> None:
    """At a wrong address a stream may answer: it must not fill the memory of the service."""
    sent = 0

    def stream() -> None:
        nonlocal sent
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while sent < 2**30:
                sent += connection.send(b"x" * 65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=stream, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        answer = wire.Connection(url, token=None, timeout=5.0).post([{"document": DOCUMENT}])
        thread.join(10)
    assert (answer.status, answer.why) == (None, "JSONDecodeError")
    assert sent < 64 * 2**20, "what was sent lies in buffers of the system at most"


def test_a_forked_worker_sends_its_own_records(stand: Any) -> None:
    """Servers that load a service once and fork it leave the child no thread."""
    client = make(stand.url)
    client.send(DOCUMENT, SUMMARY, id="parent")
    assert client.flush(5)
    child = os.fork()
    if child == 0:  # pragma: no cover
        client.send(DOCUMENT, SUMMARY, id="child")
        os._exit(0 if client.flush(5) and client.counts == Counts(sent=1) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sorted(record["id"] for record in stand.records) == ["child", "parent"]
    client.close()


def test_the_thread_starts_with_the_first_record(stand: Any) -> None:
    """A client that is never used costs nothing, also before a fork."""
    before = threading.active_count()
    client = make(stand.url)
    assert threading.active_count() == before
    client.close()
    gc.collect()


def test_a_thread_that_cannot_start_is_tried_again(
    stand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that had too many threads for a moment would send nothing for the rest of its
    life, and count each record twice."""

    def too_many(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Client(stand.url, service="news", model="m") as client:
        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", too_many)
            assert client.send("d", "lost") is False
        assert client.counts == Counts(rejected=1)
        assert client.send("d", "kept") is True
        assert client.flush()
    assert [record["summary"] for record in stand.records] == ["kept"]
    assert client.counts == Counts(sent=1, rejected=1)


def test_async_services_wait_only_at_the_end(stand: Any) -> None:
    """`send` is a plain call; flush and close leave the loop running."""

    async def serve() -> tuple[int, Counts]:
        async with AsyncClient(stand.url, service="s", model="m", linger_seconds=0.01) as client:
            stand.hanging.set()
            client.send(DOCUMENT, SUMMARY)
            turns = 0

            async def tick() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0.005)

            ticking = asyncio.create_task(tick())
            assert await client.flush(0.2) is False
            ticking.cancel()
            stand.hanging.clear()
            assert await client.flush(5) is True
        return turns, client.counts

    turns, counts = asyncio.run(serve())
    assert turns >= 10
    assert counts == Counts(sent=1)


def test_the_folder_works_without_this_package(tmp_path: Any) -> None:
    """A service may copy it, and should not have to install torch for it."""
    import shutil
    from pathlib import Path

    import monitor.client

    shutil.copytree(Path(monitor.client.__file__).parent, tmp_path / "client")
    code = (
        "import client, sys; client.Client(); "
        "sys.exit(any(n.split('.')[0] in ('monitor', 'httpx', 'numpy') for n in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == 0
