"""Scores in files that other tools open."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.outlets.export import harmless, write_ndjson, write_parquet
from monitor.records import Reason
from monitor.storage.score_rows import ScoreTexts

NASTY = '<script>alert("x")</script> \u202eabc 👍🏽 ' + "w" * 50_000


@pytest.mark.parametrize(
    ("text", "exported"),
    [
        ('=HYPERLINK("http://evil")', '\'=HYPERLINK("http://evil")'),
        ("+1", "'+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("＝1", "'＝1"),
        ("a = 1", "a = 1"),
        ("", ""),
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b]0;owned\x07", "\ufffd]0;owned\ufffd"),
        ("\x9b31m", "\ufffd31m"),
        ("a\x00b\x7fc\u2028d", "a\ufffdb\ufffdc\ufffdd"),
    ],
)
def test_a_string_is_neither_a_formula_nor_a_command(text: str, exported: str) -> None:
    """Whoever can send a record chooses what stands in the file."""
    assert harmless(text) == exported


@given(st.text())
def test_any_string_is_made_harmless_once_and_for_all(text: str) -> None:
    """An export that is read and exported again stays as it is, and no sign is dropped."""
    made = harmless(text)
    assert harmless(made) == made
    assert len(made) - len(text) in {0, 1}


def test_lines_hold_every_field_as_it_is(make_row: Any) -> None:
    """Unknown is null, times name their zone, numbers are numbers."""
    file = io.StringIO()
    row = make_row("=id", hss=None, hss_reason=Reason.UNCALIBRATED)
    assert write_ndjson([[(row, None)], [(make_row("r2"), None)]], file) == 2
    first, second = map(json.loads, file.getvalue().splitlines())
    assert list(first) == list(type(row).__slots__)
    assert (first["record_id"], first["hss"], first["hss_reason"]) == ("'=id", None, "uncalibrated")
    assert first["received_at"] == "2026-03-01T12:00:00+00:00"
    assert (second["hss"], second["entities"]) == (0.25, 4)
    assert "document" not in first


def test_a_nasty_text_stays_on_its_line(make_row: Any) -> None:
    """Line separators inside a text must not end the object."""
    texts = ScoreTexts(document=NASTY, summary="a\u2028b\u0085c\r\n=d", baseline_summary=None)
    file = io.StringIO()
    write_ndjson([[(make_row(), texts)]], file)
    [line] = file.getvalue().splitlines()
    told = json.loads(line)
    assert (told["document"], told["summary"]) == (NASTY, "a\ufffdb\ufffdc\r\n=d")
    assert told["baseline_summary"] is None


def test_parquet_has_the_same_values_with_their_types(make_row: Any, tmp_path: Path) -> None:
    """A column that is empty in the first page must not lose its type in the next."""
    pages = [[(make_row("r1", lime_instability=None), None)]]
    pages += [[(make_row("r2", lime_instability=0.5), None)]]
    file = tmp_path / "scores.parquet"
    assert write_parquet(pages, file, texts=False) == 2
    table = pq.read_table(file)
    assert table.schema.field("lime_instability").type == pa.float64()
    assert table.schema.field("entities").type == pa.int64()
    assert table.schema.field("received_at").type == pa.timestamp("us", tz="UTC")
    assert table.column("lime_instability").to_pylist() == [None, 0.5]
    assert table.column("received_at").to_pylist()[0] == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert "document" not in table.schema.names


def test_parquet_takes_texts_and_no_rows_at_all(make_row: Any, tmp_path: Path) -> None:
    """An export of a quiet night is a file that can be read."""
    texts = ScoreTexts(document=NASTY, summary="=s", baseline_summary=None)
    write_parquet([[(make_row(), texts)]], tmp_path / "a.parquet", texts=True)
    assert pq.read_table(tmp_path / "a.parquet").column("summary").to_pylist() == ["'=s"]
    assert write_parquet([], tmp_path / "b.parquet", texts=True) == 0
    assert pq.read_table(tmp_path / "b.parquet").num_rows == 0
