"""What `score --batch` reads, before any model is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli.score import _batch
from monitor.errors import UsageError


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
