"""`hss-monitor export`: scores for other tools, as NDJSON or Parquet."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.audit import note_view
from monitor.cli.files import unwritable
from monitor.cli.options import (
    Category,
    Config,
    Model,
    Service,
    Since,
    Until,
    moment,
    one_of,
    settings_of,
)
from monitor.cli.output import note
from monitor.errors import UsageError
from monitor.outlets.export import Pages, write_ndjson, write_parquet
from monitor.storage.score_rows import ScoreFilter, score_rows
from monitor.stores import Stores, now, open_stores

FORMATS = ("ndjson", "parquet")


def export(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write; - is standard output.")],
    config: Config = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="ndjson or parquet; without it parquet for a FILE.parquet, else ndjson.",
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    service: Service = None,
    model: Model = None,
    category: Category = None,
    texts: Annotated[
        bool,
        typer.Option("--texts", help="With documents and summaries; each is noted as viewed."),
    ] = False,
) -> None:
    """Scored records, oldest first, without their texts unless they are asked for.

    Strings that a spreadsheet would take for a formula begin with an apostrophe.
    """
    format_ = one_of("--format", format_, FORMATS) or _format_of(out)
    to_stdout = str(out) == "-"
    if format_ == "parquet" and (to_stdout or _is_stream(out)):
        raise UsageError(f"--out: {str(out)!r} takes ndjson only; name a file for parquet")
    wanted = ScoreFilter(
        service=service,
        model=model,
        category=category,
        since=moment("--since", since, now=now()),
        until=moment("--until", until, now=now()),
    )
    with open_stores(settings_of(config), create=False) as stores:
        pages = _pages(stores, wanted, texts)
        if to_stdout:
            written = write_ndjson(pages, sys.stdout)
        elif format_ == "ndjson":
            with _whole(out) as draft, draft.open("w", encoding="utf-8") as file:
                written = write_ndjson(pages, file)
        else:
            with _whole(out) as draft:
                written = write_parquet(pages, draft, texts=texts)
    note(f"{written} scores exported" + ("" if to_stdout else f" to {out}"))


def _format_of(out: Path) -> str:
    """The format that the name of the file stands for."""
    ending = out.suffix.lower()
    if ending == ".csv":
        raise UsageError(
            f"--out: {str(out)!r} would be CSV, which is not written; name a FILE.parquet or a "
            "FILE.ndjson, or say --format"
        )
    return "parquet" if ending == ".parquet" else "ndjson"


def _pages(stores: Stores, wanted: ScoreFilter, texts: bool) -> Pages:
    for page in score_rows(stores.database, wanted, texts=texts):
        shown = [row.record_id for row, held in page if held and held.document is not None]
        note_view(stores, *shown, channel="export")
        yield page


@contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """What to write so that `out` appears when it is complete.

    A pipe or a device, such as /dev/stdout, is written itself: no file may take its place.
    """
    try:
        if _is_stream(out):
            yield out
        else:
            # The file behind a link, so that the link stays one.
            with _draft_of(Path(os.path.realpath(out))) as draft:
                yield draft
    except OSError as error:
        raise unwritable("--out", out, error) from None


def _is_stream(out: Path) -> bool:
    """Whether it is there and is a pipe, a device or a socket."""
    try:
        mode = out.stat().st_mode
    except OSError:
        return False  # Writing it tells what is wrong.
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def _draft_of(file: Path) -> Iterator[Path]:
    """A draft beside the file that takes its place in the end; only we may read it."""
    draft = Path(f"{file}.{os.getpid()}.part")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield draft
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
