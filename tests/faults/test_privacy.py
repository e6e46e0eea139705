"""No text where the mode keeps none, no personal data where the mode redacts: the real sidecar.

With its real scorer, over every way in and every way out.
"""

from __future__ import annotations

import base64
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

receiving = runpy.run_path(str(Path(__file__).parents[1] / "acceptance" / "receiver.py"))[
    "receiving"
]

REPOSITORY = Path(__file__).resolve().parents[2]
SCORED = ("scored", "uncalibrated")
SMALL = {"strengths": {"low": 1, "moderate": 1, "high": 0}}
STORY = (
    "The harbour council of {0} approved a new budget on Monday after a long debate. "
    "Fishermen had asked for a larger quay and better lights near the entrance. "
    "The mayor said that the work would begin in spring and cost four million euros. "
    "Several members feared that the price of the project would rise again, as {0} had seen "
    "before. The council will publish its plans and invite residents to a meeting next month."
)
RARE = ("Fishermen had asked", "larger quay", "four million euros", "invite residents")
"""Of the story, apart from the planted words: nothing else that is written has them."""
PAGES = (
    "/",
    "/records",
    "/breaches",
    "/drift",
    "/metrics",
    "/api/status",
    "/api/records",
    "/api/openapi.json",
    "/healthz",
)


def spelled(words: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """(word, bytes) in every spelling in which it might lie in a file."""
    for word in words:
        yield word, word.encode()
        yield word, word.encode("utf-16-le")
        yield word, word.encode().hex().encode()
        for shift in range(3):
            # Base64 of a longer text: without the characters that its neighbours decide.
            text = base64.b64encode(b"_" * shift + word.encode())
            yield word, text[4 if shift else 0 : -4]


def found(data: bytes, words: Iterable[str]) -> set[str]:
    return {word for word, spelling in spelled(words) if spelling in data}


def in_files(folder: Path, words: Iterable[str]) -> dict[str, set[str]]:
    """The words that stand in each file under a folder: database, its log, logs, keys."""
    held = {}
    logs_first = sorted(folder.rglob("*"), key=lambda file: not file.name.endswith("-wal"))
    for file in [file for file in logs_first if file.is_file()]:
        # The last process of a killed sidecar takes the write-ahead log away as it ends; what was
        # in it is in the database then.
        with suppress(FileNotFoundError):
            held[file.name] = found(file.read_bytes(), list(words))
    return {name: words for name, words in held.items() if words}


def shown(sidecar: Any, ids: Iterable[str], words: list[str]) -> dict[str, set[str]]:
    """The words that pages, API, metrics and commands show."""
    paths = [*PAGES, *(f"{way}/{name}" for name in ids for way in ("/records", "/api/records"))]
    told = {path: sidecar.http.get(path) for path in paths}
    assert {path: answer.status_code for path, answer in told.items()} == dict.fromkeys(paths, 200)
    held = {path: found(answer.content, words) for path, answer in told.items()}
    open_metrics = {"accept": "application/openmetrics-text"}
    held["openmetrics"] = found(sidecar.http.get("/metrics", headers=open_metrics).content, words)
    for command in (
        ["records", "list", "--json"],
        ["doctor", "--json"],
        ["export", "--out", "-", "--texts"],
        *(["records", "show", name, *more] for name in ids for more in ([], ["--json"])),
    ):
        told_by = subprocess.run(
            [sys.executable, "-m", "monitor", *command, "--config", str(sidecar.file)],
            check=False,
            cwd=REPOSITORY,
            capture_output=True,
        )
        assert told_by.returncode in {0, 1}, told_by.stderr
        held[" ".join(command)] = found(told_by.stdout + told_by.stderr, words)
    return {where: words for where, words in held.items() if words}


def span(number: int, prompt: str, completion: str, **more: str) -> dict[str, Any]:
    """A GenAI span as OTLP/JSON."""
    texts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": prompt,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": completion,
        **more,
    }
    one = {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat",
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in texts.items()
        ],
    }
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "news"}}]}
    return {"resourceSpans": [{"resource": service, "scopeSpans": [{"spans": [one]}]}]}


def posted(sidecar: Any, record: Mapping[str, Any]) -> None:
    answer = sidecar.post_records({"service": "news", "model": "m", **record})
    assert (answer.status_code, answer.json()["sampled"]) == (200, 1)


def wait_for_ends(sidecar: Any, states: Any, expected: dict[str, tuple[str, str]]) -> None:
    sidecar.wait_for(
        lambda: {state for state, _ in states(sidecar).values()} <= {"scored", "skipped", "failed"},
        seconds=240,
    )
    assert states(sidecar) == expected


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the sidecar's processes put temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


def test_in_hash_only_mode_no_byte_of_a_text_is_anywhere(
    make_sidecar: Any, states: Any, temporary: Path
) -> None:
    """Not while it waits, not when it is scored, not after a kill; nor of what was refused."""
    names = ("Quillmarsh", "Vexmoorby", "Tarnwhistle", "Brackenfold", "Dunlarkin", "Ostrelwick")
    document, summary, prompt, spare, traced, event = names
    refused = ["Gravelspur", "Hollowmere", "Pinchbeckly", "Sallowgate"]
    words = [*names, *refused, *RARE]
    sidecar = make_sidecar(
        storage={"mode": "hash_only"},
        execution={"backend": "local", "poll_seconds": 0.1},
        perturbation=SMALL,
        attribution={"share": 1.0, "max_evaluations": 20, "perturbations": 1},
        logging={"level": "debug"},
        ingest={"join_seconds": 0.2},
    )
    text = STORY.format(document)
    posted(
        sidecar,
        {
            "id": "r1",
            "document": text,
            "summary": f"The council of {summary} approved 7 million for Zanzibar.",
            "alternatives": [f"{spare} approved a budget."],
            "request": {
                "model": "m",
                "messages": [{"role": "user", "content": f"{prompt} wants a summary.\n\n{text}"}],
            },
        },
    )
    traces = span(1, f"Summarise.\n\n{STORY.format(traced)}", f"The council of {traced} met.")
    assert sidecar.http.post("/v1/traces", json=traces).status_code == 200
    cloud_event = {
        "specversion": "1.0",
        "id": "e1",
        "source": "news",
        "type": "summary",
        "data": {"document": STORY.format(event), "summary": f"{event} met.", "model": "m"},
    }
    body = json.dumps(cloud_event)
    taken = sidecar.post("/v1/cloudevents", body, "application/cloudevents+json")
    assert taken.json()["sampled"] == 1
    # What is refused or skipped must not stand in the log either.
    broken, mistyped, plain, unanswered = refused
    tries = [
        sidecar.post("/v1/records", f'{{"document": "{broken}'.encode(), "application/json"),
        sidecar.post_records({"document": mistyped, "summary": 1, "service": "s", "model": "m"}),
        sidecar.post("/v1/records", plain.encode(), "text/plain"),
        sidecar.http.post("/v1/traces", json=span(2, unanswered, "")),
    ]
    assert [answer.status_code for answer in tries] == [400, 200, 415, 200]
    assert "queued" in {state for state, _ in states(sidecar).values()}
    assert in_files(sidecar.folder, words) == {}

    scored = dict.fromkeys(("r1", f"{1:032x}-{1:016x}", "news#e1"), SCORED)
    silent = {f"{2:032x}-{2:016x}": ("skipped", "empty_summary")}
    wait_for_ends(sidecar, states, scored | silent)
    [row] = sidecar.rows(
        "SELECT s.distances, s.unsupported, r.sealed, p.substitutions FROM scores s "
        "JOIN records r ON r.id = s.record_id JOIN perturbations p ON p.record_id = r.id "
        "WHERE r.id = 'r1' AND p.number = 1"
    )
    assert (row["distances"], row["sealed"]) == (2, None)
    changed = [word for _, *word, _, _ in json.loads(row["substitutions"])]
    assert changed
    assert {entry for pair in changed for entry in pair} == {None}
    assert {entry for _, entry, _ in json.loads(row["unsupported"])} == {None}
    assert in_files(sidecar.folder, words) == {}
    assert in_files(temporary, words) == {}
    assert shown(sidecar, ["r1"], words) == {}
    sidecar.kill()
    assert in_files(sidecar.folder, words) == {}


def test_the_search_finds_what_is_there() -> None:
    """Else the test above could not fail."""
    plain = b"... Quillmarsh ..."
    coded = [plain, "Quillmarsh".encode("utf-16-le"), b"Quillmarsh".hex().encode()]
    coded += [base64.b64encode(b"x" * n + plain) for n in range(3)]
    assert [found(data, ["Quillmarsh"]) for data in coded] == [{"Quillmarsh"}] * 6
    assert found(os.urandom(100_000), ["Quillmarsh"]) == set()


PERSONAL = (
    "jane.doe@mail.example",
    "o'neill@mail.example",
    "+353 1 666 0000",
    "555-867-5309",
    "4111 1111 1111 1111",
    "K-4711",
)


def answered(body: bytes) -> bytes:
    """A chat completion whose summary is the second and third sentence of what was sent."""
    document = json.loads(body)["messages"][-1]["content"].rpartition("\n\n")[2]
    summary = ". ".join(document.split(". ")[1:3]) + "."
    message = {"role": "assistant", "content": summary}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 100, "completion_tokens": 30}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def test_in_redacted_mode_personal_data_is_neither_stored_nor_sent(
    make_sidecar: Any, states: Any, temporary: Path
) -> None:
    """The redacted document is what is replayed, so its own summary is the baseline."""
    email, irish, phone, other_phone, card, customer = PERSONAL
    text = (
        f"{STORY.format('Skerries')} Write to {email} or {irish}, call {phone} or {other_phone}, "
        f"or pay by card {card} as customer {customer}."
    )
    with receiving() as endpoint:
        endpoint.reply = answered
        sidecar = make_sidecar(
            storage={"mode": "redacted"},
            redaction={"patterns": [r"K-\d{4}"]},
            execution={"backend": "local", "poll_seconds": 0.1},
            perturbation=SMALL,
            attribution={"share": 0.0},
            summarizer={
                "kind": "replay",
                "replay": {"url": f"{endpoint.url}/v1/chat/completions"},
                "limits": {"requests_per_second": 50.0},
            },
            logging={"level": "debug"},
        )
        instruction = f"Summarise for {email}, card {card}."
        posted(
            sidecar,
            {
                "id": "r1",
                "document": text,
                "summary": f"Write to {email} or call {phone}; customer {customer}.",
                "alternatives": [f"Call {other_phone}."],
                "request": {
                    "model": "m",
                    "messages": [
                        {"role": "system", "content": f"Complaints go to {irish}."},
                        {"role": "user", "content": f"{instruction}\n\n{text}"},
                    ],
                    "user": email,
                    "temperature": 0.0,
                    "metadata": {email: phone, "card": 4111111111111111},
                },
            },
        )
        traces = span(1, f"Summarise.\n\n{text}", f"Write to {email}, {phone}.")
        assert sidecar.http.post("/v1/traces", json=traces).status_code == 200
        traced = f"{1:032x}-{1:016x}"
        words = [*PERSONAL, "jane.doe", "4111111111111111"]
        assert in_files(sidecar.folder, words) == {}
        wait_for_ends(sidecar, states, {"r1": SCORED, traced: SCORED})
        sent = [request.body for request in endpoint.requests]
    assert len(sent) >= 8, "two versions, two null runs or more, and a baseline of each record"
    assert [body for body in sent if found(body, words)] == []
    for body in sent:
        content = json.loads(body)["messages"][-1]["content"]
        assert "[EMAIL]" in content
        assert "[PHONE]" in content
        assert "[CARD]" in content
        assert "[REDACTED]" in content
    rows = sidecar.rows("SELECT baseline, baseline_summary, observed_distance FROM scores")
    assert [row["baseline"] for row in rows] == ["own", "own"]
    assert all(row["baseline_summary"].startswith("Fishermen had asked") for row in rows)
    assert all(row["observed_distance"] > 0 for row in rows)
    assert in_files(sidecar.folder, words) == {}
    assert in_files(temporary, words) == {}
    assert shown(sidecar, ["r1", traced], words) == {}
    assert "[EMAIL]" in sidecar.http.get("/records/r1").text
    sidecar.kill()
    assert in_files(sidecar.folder, words) == {}
