"""Scores as NDJSON or Parquet, page by page, harmless to whatever opens the file.

Names, ids and texts come from traffic. A spreadsheet takes a cell that begins with `=`, `+`,
`-` or `@` for a formula, and a terminal obeys control characters: such a string is exported
behind an apostrophe, and control characters other than line ends and tabs as U+FFFD.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import IO, Any, get_type_hints

from monitor.errors import DependencyUnavailable
from monitor.storage.score_rows import ScoreRow, ScoreTexts

Pages = Iterable[list[tuple[ScoreRow, ScoreTexts | None]]]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(text: str) -> str:
    r"""The text, neither a formula to a spreadsheet nor a command to a terminal.

    >>> harmless("=1+1"), harmless("a\x1b[31m") == "a\ufffd[31m", harmless("a = b")
    ("'=1+1", True, 'a = b')
    """
    clean = _CONTROL.sub("\ufffd", text)
    return f"'{clean}" if clean.startswith(_FORMULA) else clean


def write_ndjson(pages: Pages, file: IO[str]) -> int:
    """One JSON object a line; how many."""
    written = 0
    for page in pages:
        for values in _rows(page):
            plain = {
                name: value.isoformat() if isinstance(value, datetime) else value
                for name, value in values.items()
            }
            file.write(json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n")
            written += 1
    return written


def write_parquet(pages: Pages, path: Path, *, texts: bool) -> int:
    """A Parquet file with a row group for each page; how many rows.

    Raises `DependencyUnavailable` where pyarrow is not installed.
    """
    try:
        # Not a dependency of its own, and 100 MB to import: only who wants it pays.
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise DependencyUnavailable(
            "--format: 'parquet' needs pyarrow, which is not installed; `pip install pyarrow`, "
            "or export as ndjson"
        ) from None
    kinds = {
        datetime: pa.timestamp("us", tz="UTC"),
        float: pa.float64(),
        int: pa.int64(),
        str: pa.string(),
    }
    hints = _types(ScoreRow) | (_types(ScoreTexts) if texts else {})
    schema = pa.schema([(name, kinds[kind]) for name, kind in hints.items()])
    written = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for page in pages:
            rows = list(_rows(page))
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            written += len(rows)
    return written


def _rows(page: list[tuple[ScoreRow, ScoreTexts | None]]) -> Iterator[dict[str, Any]]:
    for row, texts in page:
        yield {
            name: harmless(str(value)) if isinstance(value, str) else value
            for part in (row, texts)
            if part is not None
            for name, value in _fields(part)
        }


def _fields(part: ScoreRow | ScoreTexts) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        yield field.name, value.value if isinstance(value, Enum) else value


def _types(record: type[ScoreRow] | type[ScoreTexts]) -> dict[str, type]:
    """Field → the kind of its values: `str` for words of a closed list."""
    found: dict[str, type] = {}
    for name, hint in get_type_hints(record).items():
        [kind] = [each for each in getattr(hint, "__args__", (hint,)) if each is not type(None)]
        found[name] = str if issubclass(kind, str) else kind
    return found
