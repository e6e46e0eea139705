"""From lines to records, and what happens where the intake refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from monitor import configuration
from monitor.errors import ConfigurationError, MonitorError, Overloaded
from monitor.ingest.following import Following, LineReader
from monitor.ingest.log_file import Line
from monitor.ingest.position import PositionFile
from monitor.ingest.redaction import Redaction
from monitor.ingest.tail import Tail
from monitor.ports import Arrival
from monitor.records import IncomingRecord

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
RECORD = {"document": "A document.", "summary": "A summary.", "service": "s", "model": "m"}


class Taking:
    """An intake that remembers, and refuses while `error` is set."""

    def __init__(self) -> None:
        self.records: list[IncomingRecord] = []
        self.rejected = 0
        self.error: MonitorError | None = None
        self.tails: list[Tail] = []

    def take(self, records: Sequence[IncomingRecord]) -> list[Arrival]:
        if self.error is not None:
            raise self.error
        self.records += records
        return [Arrival.QUEUED] * len(records)

    def reject(self, lines: int) -> None:
        self.rejected += lines


@pytest.fixture
def taking() -> Iterator[Taking]:
    it = Taking()
    yield it
    for tail in it.tails:
        tail.close()


def follow(folder: Path, taking: Taking, **options: Any) -> Following:
    position = PositionFile(folder / "position")
    taking.tails.append(Tail(folder / "app.log", position.load()))
    return Following(
        taking.tails[-1],
        position,
        reader=LineReader(options.pop("fields", {})),
        take=taking.take,
        rejected=taking.reject,
        replays=options.pop("replays", lambda count: None),
        redaction=options.pop("redaction", None),
        clock=lambda: NOW,
    )


def write(folder: Path, *items: Any) -> None:
    with (folder / "app.log").open("a") as file:
        file.writelines(
            f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in items
        )


def test_a_line_is_a_record(tmp_path: Path, taking: Taking) -> None:
    """As it would be posted; without an id it gets that of its line."""
    write(tmp_path, RECORD, {**RECORD, "id": "own"})
    taken = follow(tmp_path, taking).turn()
    assert (taken.accepted, taken.sampled, taken.rejected) == (2, 2, 0)
    assert taking.records[0].id.startswith("line-")
    assert taking.records[1].id == "own"
    assert taking.records[0].document == "A document."
    assert taking.records[0].received_at == NOW


def test_fields_are_found_by_jmespath(tmp_path: Path, taking: Taking) -> None:
    """Logs have their own shape, and constants stand for what they do not tell."""
    fields = {
        "document": "request.messages[?role=='user'] | [-1].content",
        "summary": "response.choices[0].message.content",
        "service": "'newsroom'",
        "model": "response.model",
        "category": "tags.category",
    }
    line = {
        "request": {
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "d"}]
        },
        "response": {"model": "m-1", "choices": [{"message": {"content": "answer"}}]},
    }
    write(tmp_path, line)
    follow(tmp_path, taking, fields=fields).turn()
    [record] = taking.records
    assert (record.document, record.summary) == ("d", "answer")
    assert (record.service, record.model, record.category) == ("newsroom", "m-1", None)


def test_replays_of_our_own_are_counted_and_passed_over(tmp_path: Path, taking: Taking) -> None:
    """The log of a gateway holds them, too, and they must not be replayed again."""
    seen: list[int] = []
    write(tmp_path, RECORD, {**RECORD, "tracestate": "hss=replay"})
    taken = follow(tmp_path, taking, replays=seen.append).turn()
    assert (taken.accepted, taken.replays, seen) == (1, 1, [1])


def test_lines_that_are_no_record_are_counted_and_passed_over(
    tmp_path: Path, taking: Taking
) -> None:
    """A log holds other things, too, and one of them must not stop the rest."""
    write(tmp_path, "Traceback (most recent call last):", "[1, 2]", {"document": "d"}, RECORD)
    taken = follow(tmp_path, taking).turn()
    assert (taken.accepted, taken.rejected, taking.rejected) == (1, 3, 3)


def test_a_line_that_a_function_of_a_path_does_not_take_is_passed_over(
    tmp_path: Path, taking: Taking, capsys: pytest.CaptureFixture[str]
) -> None:
    """JMESPath raises there, quoting the value: the log would be read no further, and the text be
    in our own log."""
    names = {"summary": "summary", "service": "service", "model": "model"}
    write(tmp_path, {**RECORD, "parts": "a secret"}, {**RECORD, "parts": ["A ", "document."]})
    taken = follow(tmp_path, taking, fields={"document": "join('', parts)", **names}).turn()
    assert (taken.accepted, taken.rejected) == (1, 1)
    assert taking.records[0].document == "A document."
    told = capsys.readouterr()
    assert "ingest.tail.fields.document" in told.out + told.err
    assert "secret" not in told.out + told.err


def test_texts_are_redacted_before_they_are_handed_over(tmp_path: Path, taking: Taking) -> None:
    """As everywhere else in redacted storage."""
    write(tmp_path, {**RECORD, "document": "Write to jane@example.org today."})
    follow(tmp_path, taking, redaction=Redaction(patterns=())).turn()
    assert "jane@example.org" not in taking.records[0].document


def test_an_intake_that_refuses_gets_the_same_lines_again(tmp_path: Path, taking: Taking) -> None:
    """The position must not pass what is not durable."""
    write(tmp_path, RECORD)
    following = follow(tmp_path, taking)
    taking.error = Overloaded()
    assert following.turn().accepted == 0
    assert PositionFile(tmp_path / "position").load() is None
    taking.error = None
    assert following.turn().accepted == 1
    assert len(taking.records) == 1


def test_a_crash_before_the_position_is_kept_repeats_ids(tmp_path: Path, taking: Taking) -> None:
    """So the queue sees that it knows the records."""
    write(tmp_path, RECORD, RECORD)
    follow(tmp_path, taking).turn()
    (tmp_path / "position").unlink()
    follow(tmp_path, taking).turn()
    ids = [record.id for record in taking.records]
    assert ids[:2] == ids[2:]
    assert len(set(ids)) == 2


def test_a_restart_goes_on_where_it_was(tmp_path: Path, taking: Taking) -> None:
    """Nothing is read twice after an orderly end."""
    write(tmp_path, RECORD)
    follow(tmp_path, taking).turn()
    write(tmp_path, {**RECORD, "id": "second"})
    follow(tmp_path, taking).turn()
    assert [record.id for record in taking.records][1:] == ["second"]


def test_a_position_that_is_no_position_is_told(tmp_path: Path, taking: Taking) -> None:
    """Beginning again by itself might take in weeks of logs."""
    (tmp_path / "position").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"ingest\.tail\.position_file"):
        follow(tmp_path, taking)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"document": "a", "summary": "b", "service": "c", "model": "[["}, "no JMESPath"),
        ({"document": "a", "summary": "b", "service": "c"}, "model is missing"),
    ],
)
def test_a_wrong_mapping_is_told_at_the_start(
    fields: dict[str, str], named: str, tmp_path: Path
) -> None:
    """Else every line of the log would be rejected, one by one."""
    file = tmp_path / "hss-monitor.yaml"
    file.write_text(json.dumps({"ingest": {"tail": {"fields": fields}}}))
    with pytest.raises(ConfigurationError, match=named):
        configuration.load(file)


def test_a_line_keeps_the_identity_of_its_trace() -> None:
    """The same call may come in as a span, too."""
    line = {**RECORD, "trace_id": "a" * 32, "span_id": "b" * 16}
    read = LineReader({}).record(
        Line(text=json.dumps(line).encode(), identity="x"), now=lambda: NOW
    )
    assert read.id == f"{'a' * 32}-{'b' * 16}"
