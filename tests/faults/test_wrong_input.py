"""Whatever somebody posts: a status, words that help, and nothing else lost by it."""

from __future__ import annotations

import gzip
import json
import socket
import zlib
from typing import Any

import pytest

GOOD = {"document": "d", "summary": "s", "service": "x", "model": "m"}
JSON = "application/json"


@pytest.fixture(scope="module")
def front(make_sidecar: Any) -> Any:
    return make_sidecar(http={"port": 0, "max_body": 2**20})


@pytest.fixture(autouse=True)
def unharmed(front: Any) -> Any:
    """After every wrong input a good record is still taken, and no wrong one was stored."""
    before = front.rows("SELECT count(*) AS n FROM records")[0]["n"]
    expected = {"n": before}
    yield expected
    assert front.rows("SELECT count(*) AS n FROM records") == [expected]
    assert front.post_records(GOOD).json() == {"accepted": 1, "sampled": 1, "rejected": []}


def _bomb() -> bytes:
    """64 MiB of blanks in 64 KiB."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    blanks = b" " * 2**20
    return b"".join(packer.compress(blanks) for _ in range(64)) + packer.flush()


@pytest.mark.parametrize("path", ["/v1/records", "/v1/traces", "/v1/logs", "/v1/cloudevents"])
@pytest.mark.parametrize(
    ("body", "headers", "status", "word"),
    [
        (b'{"document": "SECRET', {}, 400, "JSON"),
        (b"[" * 200_000, {}, 400, "JSON"),
        (gzip.compress(b"{}" * 1000)[:-9], {"content_encoding": "gzip"}, 400, "gzip"),
        (b"no gzip at all", {"content_encoding": "gzip"}, 400, "gzip"),
        (_bomb(), {"content_encoding": "gzip"}, 413, "http.max_body"),
        (b" " * (2**20 + 1), {}, 413, "http.max_body"),
        (b"{}", {"content_encoding": "br"}, 415, "gzip"),
        (b"document=d", {"content_type": "text/plain"}, 415, "application/"),
        (b"document=d", {"content_type": ""}, 415, "application/"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_with_what_to_do(
    front: Any, path: str, body: bytes, headers: dict[str, str], status: int, word: str
) -> None:
    """Each of them is counted by its status."""
    counted = front.total("hss_ingest_rejected_total", status=str(status))
    named = {"content_type": JSON, **headers}
    if path == "/v1/cloudevents" and "content_type" not in headers:
        named["content_type"] = "application/cloudevents+json"
    answer = front.post(path, body, named.pop("content_type"), **named)
    assert answer.status_code == status
    assert word in answer.text
    assert "SECRET" not in answer.text
    assert front.total("hss_ingest_rejected_total", status=str(status)) == counted + 1


def test_one_wrong_record_does_not_cost_the_others(front: Any, unharmed: Any) -> None:
    """The answer says which, which field, and what to do."""
    wrong = [{**GOOD, "summary": 5}, 7, {**GOOD, "trace_id": "xyz"}]
    answer = front.http.post("/v1/records", json=[GOOD, *wrong, GOOD])
    unharmed["n"] += 2
    assert answer.status_code == 200
    told = answer.json()
    assert (told["accepted"], told["sampled"]) == (2, 2)
    assert [(entry["index"], entry["field"]) for entry in told["rejected"]] == [
        (1, "summary"),
        (2, "body"),
        (3, "trace_id"),
    ]
    assert all(entry["remedy"] for entry in told["rejected"])


def test_a_line_that_is_not_utf_8_is_rejected_by_itself(front: Any, unharmed: Any) -> None:
    """One broken writer in a file of many must not hold up the others."""
    lines = b'{"document": "\xff"}\n' + json.dumps(GOOD).encode() + b"\n{"
    answer = front.post("/v1/records", lines, "application/x-ndjson")
    unharmed["n"] += 1
    assert answer.json()["accepted"] == 1
    assert [entry["index"] for entry in answer.json()["rejected"]] == [0, 2]


@pytest.mark.parametrize(
    ("document", "stored"),
    [
        ('"a\\u0000b"', "a\ufffdb"),
        ('"a\\ud83db"', "a\ufffdb"),
        ('"\\udc00"', "\ufffd"),
        ('"\\ud83d\\ude00 👩‍👩‍👧 e\u0301"', "😀 👩‍👩‍👧 e\u0301"),
        ('"\u202eעברית العربية\u202c"', "\u202eעברית العربية\u202c"),
        ('""', ""),
        ('"one"', "one"),
    ],
)
def test_strange_texts_are_taken_as_they_are(
    front: Any, unharmed: Any, document: str, stored: str
) -> None:
    """What a database cannot hold is replaced one for one; whether it can be scored is for
    the scorer to say."""
    body = f'{{"document": {document}, "summary": "", "service": "x", "model": "m"}}'
    answer = front.post("/v1/records", body.encode(), JSON)
    unharmed["n"] += 1
    assert answer.json() == {"accepted": 1, "sampled": 1, "rejected": []}
    found = front.rows("SELECT document, summary FROM records ORDER BY rowid DESC LIMIT 1")
    assert (found[0]["document"], found[0]["summary"]) == (stored, "")


def test_a_document_of_200_000_words_is_taken(front: Any, unharmed: Any) -> None:
    """It is skipped as too long by the scorer, and never lost on the way."""
    document = "word " * 200_000
    answer = front.post_records({**GOOD, "id": "long", "document": document})
    assert answer.json()["sampled"] == 1
    unharmed["n"] += 1
    stored = front.rows("SELECT length(document) AS n FROM records WHERE id = 'long'")
    assert stored == [{"n": len(document)}]


def test_a_sender_that_hangs_up_is_no_error_of_ours(front: Any) -> None:
    """Half a request, and half a body."""
    host, port = front.http.base_url.host, front.http.base_url.port
    head = b"POST /v1/records HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for part in (head, head + b'Content-Length: 1000\r\n\r\n{"document"', b"\x16\x03\x01\x00"):
        with socket.create_connection((host, port)) as connection:
            connection.sendall(part)
    assert front.http.get("/readyz").status_code == 200
    assert [told for told in front.log() if told.get("level") == "error"] == []


def test_nothing_of_a_wrong_body_is_logged(front: Any) -> None:
    """It may be a document with one bracket too few."""
    front.post("/v1/records", b'{"document": "Trevor Deely", ', JSON)
    front.post("/v1/traces", json.dumps({"resourceSpans": ["Trevor Deely"]}).encode(), JSON)
    assert "Deely" not in "".join(map(str, front.log()))
