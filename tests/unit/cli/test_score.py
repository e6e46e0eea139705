"""What `score` reads, and whom it asks for a summary."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.cli.score import _batch, _scored
from monitor.errors import UsageError
from monitor.records import Reason, Summary
from monitor.settings import Settings


def _file(folder: Path, *lines: str) -> Path:
    file = folder / "batch.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_items_without_an_id_are_known_by_their_line(tmp_path: Path) -> None:
    """Also where an exporter writes null; empty lines count, as in an editor."""
    items = [{"document": "a"}, {"id": None, "document": "b"}, {"id": "own", "document": "c"}]
    first, *others = map(json.dumps, items)
    found = _batch(_file(tmp_path, first, "", *others))
    assert [item["id"] for item in found] == ["1", "3", "own"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1 is no JSON"),
        ("[]", "line 1 is no object"),
        ("{}", "document is a NoneType"),
        ('{"document": "a", "summary": 1}', "summary is a int"),
    ],
)
def test_a_line_that_is_no_item_is_named(tmp_path: Path, line: str, told: str) -> None:
    """A batch is long, and nobody finds the line without its number."""
    with pytest.raises(UsageError, match=told):
        list(_batch(_file(tmp_path, line)))


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """JSON strings may hold the line separators of Unicode, and articles from the web do."""
    text = "a\u2028b\u0085c"
    item = json.dumps({"document": text}, ensure_ascii=False)
    assert [item["document"] for item in _batch(_file(tmp_path, item, item))] == [text, text]


class Bench:
    """A summarizer that answers with one summary, and a pipeline that says what it was given."""

    def __init__(self, answer: Summary) -> None:
        self.asked = 0
        self._answer = answer
        self.summarizer: Any = self
        self.pipeline: Any = SimpleNamespace(
            score=lambda record: ("scored", record.summary),
            not_scored=lambda record, reason, detail: (reason, detail),
        )

    def summarize(self, tasks: Any) -> list[Summary]:
        self.asked += len(tasks)
        return [self._answer for _ in tasks]


@pytest.mark.parametrize(
    ("item", "asked", "result"),
    [
        ({"document": "d", "summary": "s"}, 0, ("scored", "s")),
        ({"document": "d"}, 1, ("scored", "own")),
        ({"document": " "}, 0, ("scored", "")),
        ({"document": "\u200b"}, 0, ("scored", "")),
    ],
)
def test_a_summary_is_asked_for_where_there_is_a_document_without_one(
    item: dict[str, str], asked: int, result: tuple[str, str]
) -> None:
    """A model that is asked to summarize nothing invents something, and a call costs."""
    bench: Any = Bench(Summary(text="own"))
    found, _ = _scored(bench, Settings(), {"id": "1", **item})
    assert (found, bench.asked) == (result, asked)


def test_a_summary_that_nobody_writes_is_the_reason() -> None:
    """Scored against an empty one, the record itself would look empty."""
    bench: Any = Bench(Summary(text=None, reason=Reason.SUMMARIZER_TIMEOUT, detail="late"))
    found, _ = _scored(bench, Settings(), {"id": "1", "document": "d"})
    assert found == (Reason.SUMMARIZER_TIMEOUT, "late")
