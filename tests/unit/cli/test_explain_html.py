"""`records show --explain-html`: one page that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

RECORD = {"id": "r1", "service": "news", "model": "gemma"}


def test_the_page_is_written_and_stands_alone(
    add_records: Any, score_all: Any, cli: Any, tmp_path: Path
) -> None:
    """It is what goes into the incident report."""
    add_records([{**RECORD, "document": "<script>x</script> The harbour.", "summary": "A <b>."}])
    score_all(0.8)
    file = tmp_path / "report.html"
    assert cli("records", "show", "r1", "--explain-html", str(file)).code == 0
    page = file.read_text(encoding="utf-8")
    assert "&lt;script&gt;x&lt;/script&gt; The harbour." in page
    assert "<script" not in page
    assert 'href="' not in page


def test_a_file_that_cannot_be_written_is_a_matter_of_usage(
    add_records: Any, cli: Any, tmp_path: Path
) -> None:
    """With the reason and the remedy."""
    add_records([RECORD | {"document": "d", "summary": "s"}])
    answer = cli("records", "show", "r1", "--explain-html", str(tmp_path / "no" / "file.html"))
    assert answer.code == 2
    assert "--explain-html" in answer.err
