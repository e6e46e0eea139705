"""`export` and `audit`: what leaves by the command line, and who took it."""

from __future__ import annotations

import getpass
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

RECORD = {"document": "=cmd|'/c calc'!A0", "summary": "s", "service": "news", "model": "m"}


@pytest.fixture
def scored(add_records: Callable[..., Any], score_all: Callable[..., None]) -> None:
    add_records([{**RECORD, "id": f"r{n}"} for n in range(3)])
    add_records([{**RECORD, "id": "other", "service": "mail"}])
    score_all(0.5)


@pytest.mark.usefixtures("scored")
def test_scores_go_out_without_texts_unless_asked_for(cli: Any) -> None:
    """An export is mailed around; texts must not be in it by accident."""
    plain = cli("export", "--out", "-", "--service", "news")
    assert [row["record_id"] for row in plain.objects] == ["r0", "r1", "r2"]
    assert "calc" not in plain.out
    assert cli("audit", "list", "--json").objects == []
    told = cli("export", "--out", "-", "--service", "mail", "--texts")
    assert [row["document"] for row in told.objects] == ["'=cmd|'/c calc'!A0"]


@pytest.mark.usefixtures("scored")
def test_texts_that_were_exported_or_shown_are_in_the_audit(cli: Any) -> None:
    """By whom, of which record, how."""
    cli("export", "--out", "-", "--service", "mail", "--texts")
    cli("records", "show", "r1")
    cli("records", "show", "r1", "--json")
    views = cli("audit", "list", "--json").objects
    assert [(view["record_id"], view["channel"]) for view in views] == [
        ("r1", "cli"),
        ("r1", "cli"),
        ("other", "export"),
    ]
    assert {(view["role"], view["viewer"]) for view in views} == {("operator", getpass.getuser())}
    assert len(cli("audit", "list", "--record", "other", "--json").objects) == 1
    assert "other" in cli("audit", "list").out


@pytest.mark.usefixtures("scored")
def test_a_file_appears_whole_and_for_its_owner_only(cli: Any, tmp_path: Path) -> None:
    """Whoever waits for it must not read half of it."""
    for format_ in ("ndjson", "parquet"):
        file = tmp_path / f"scores.{format_}"
        told = cli("export", "--out", str(file), "--format", format_)
        assert (told.code, told.out) == (0, "")
        assert "4 scores exported" in told.err
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert pq.read_table(tmp_path / "scores.parquet").num_rows == 4
    assert len((tmp_path / "scores.ndjson").read_text().splitlines()) == 4
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize("name", ["s.parquet", "s.PARQUET"])
def test_the_name_of_a_file_chooses_parquet(cli: Any, tmp_path: Path, name: str) -> None:
    """What is inside would be found out by whoever opens it, much later."""
    assert cli("export", "--out", str(tmp_path / name)).code == 0
    assert pq.read_table(tmp_path / name).num_rows == 4


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize(
    ("name", "more"), [("s.ndjson", ()), ("s.jsonl", ()), ("s", ()),
                       ("s.parquet", ("--format", "ndjson")), ("s.csv", ("--format", "ndjson"))]
)  # fmt: skip
def test_every_other_file_holds_lines_and_a_format_that_is_said_holds(
    cli: Any, tmp_path: Path, name: str, more: tuple[str, ...]
) -> None:
    """Whoever says it knows."""
    assert cli("export", "--out", str(tmp_path / name), *more).code == 0
    assert len((tmp_path / name).read_text().splitlines()) == 4


@pytest.mark.usefixtures("scored")
def test_a_pipe_is_written_and_stays_a_pipe(cli: Any, tmp_path: Path) -> None:
    """A file in its place would end /dev/null for everybody, and its reader would wait for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert cli("export", "--out", str(pipe)).code == 0
        read, _ = reader.communicate(timeout=10)
    assert read.count(b"\n") == 4
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert "takes ndjson only" in cli("export", "--out", str(pipe), "--format", "parquet").err


@pytest.mark.usefixtures("scored")
def test_a_link_stays_one_and_its_file_is_written(cli: Any, tmp_path: Path) -> None:
    """It was laid to another disk on purpose."""
    (tmp_path / "elsewhere").mkdir()
    link, file = tmp_path / "link", tmp_path / "elsewhere" / "scores.ndjson"
    link.symlink_to(file)
    for _ in range(2):
        assert cli("export", "--out", str(link)).code == 0
    assert link.is_symlink()
    assert len(file.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x", "--format", "csv"], "--format: 'csv' is none of 'ndjson' or 'parquet'"),
        (["--out", "x.csv"], "--out: 'x.csv' would be CSV, which is not written; name a FILE.parq"),
        (["--out", "-", "--format", "parquet"], "--out: '-' takes ndjson only"),
        (["--out", "/nowhere/at/all"], "--out: '/nowhere/at/all' cannot be written"),
        (["--out", "/"], "--out: '/' cannot be written"),
        (["--out", "x" * 300], "cannot be written (File name too long)"),
    ],
)
def test_what_cannot_be_written_is_said(cli: Any, arguments: list[str], message: str) -> None:
    """With the remedy."""
    told = cli("export", *arguments)
    assert told.code == 2
    assert message in told.err


def test_without_pyarrow_only_parquet_is_missing(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not a dependency of its own."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = cli("export", "--out", "x.parquet", "--format", "parquet")
    assert told.code == 3
    assert "pip install pyarrow" in told.err
    assert cli("export", "--out", "-").code == 0
