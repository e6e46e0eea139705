"""`hss-monitor score`: one document, or a batch, without a running sidecar."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.cli.files import read_lines
from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, note
from monitor.cli.scored import print_scored, scored_row
from monitor.errors import DependencyUnavailable, UsageError, choices
from monitor.records import AttributionMethod, IncomingRecord, Reason, ScoredRecord, SummaryTask
from monitor.settings import Settings
from monitor.stores import now, open_stores
from monitor.unscorable import FAILURES, is_blank

if TYPE_CHECKING:
    from monitor.workbench import Workbench


def score(
    document: Annotated[
        str | None,
        typer.Option("--document", "-d", help="File with the document; - is standard input."),
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(
            "--summary", "-s", help="File with the summary; without one the summarizer writes it."
        ),
    ] = None,
    category: Annotated[str | None, typer.Option("--category", help="Its category.")] = None,
    batch: Annotated[
        Path | None,
        typer.Option("--batch", help="JSON lines with document, summary?, id?, category?."),
    ] = None,
    attribution: Annotated[
        str | None,
        typer.Option(
            "--attribution",
            help="Explain by these methods, separated by commas: shap, lime, smile, attention. "
            "Without it the configured policy decides.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Overrides perturbation.seed.")
    ] = None,
    config: Config = None,
    json_: Json = False,
) -> None:
    """Score the hallucination severity of a summary, with all that it rests on.

    Text with blanks in it may stand in place of a file name.
    """
    if (document is None) == (batch is None):
        raise UsageError("score: give either --document or --batch")
    if document == summary == "-":
        raise UsageError("--summary: '-' is the document already; name a file for one of them")
    settings = settings_of(config)
    if seed is not None:
        perturbation = settings.perturbation.model_copy(update={"seed": seed})
        settings = settings.model_copy(update={"perturbation": perturbation})
    if attribution is not None:
        settings = _explaining(settings, attribution)
    if batch is not None:
        items = list(_batch(batch))
    else:
        text = _text("--document", document or "")
        items = [{"id": "document", "document": text, "category": category}]
        if summary is not None:
            items[0]["summary"] = _text("--summary", summary)
    failed: ScoredRecord | None = None
    with open_stores(settings) as stores:
        # Loads torch and all models: wrong input is found before that.
        from monitor.workbench import build

        bench = build(settings, stores.calibrations)
        for item in items:
            result, record = _scored(bench, settings, item)
            if json_:
                emit(scored_row(result))
            else:
                print_scored(result, record)
            if result.reason is not None and result.severity is None:
                why = f"{result.reason}: {result.detail}" if result.detail else result.reason
                note(f"{result.record_id}: not scored: {why}")
            if result.reason in FAILURES:
                failed = result
    if failed is not None:
        raise DependencyUnavailable(f"summarizer.{settings.summarizer.kind}: {failed.detail}")


def _explaining(settings: Settings, methods: str) -> Settings:
    """The settings with every record explained by these methods."""
    wanted = tuple(dict.fromkeys(name.strip() for name in methods.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in set(AttributionMethod)]
    if unknown or not wanted:
        raise UsageError(
            f"--attribution: {', '.join(map(repr, unknown)) or repr(methods)} names no method; "
            f"choose of {choices(AttributionMethod)}, separated by commas"
        )
    explained = settings.attribution.model_copy(update={"methods": wanted, "share": 1.0})
    return settings.model_copy(update={"attribution": explained})


def _scored(
    bench: Workbench, settings: Settings, item: Mapping[str, Any]
) -> tuple[ScoredRecord, IncomingRecord]:
    summary = item.get("summary")
    failure: tuple[Reason, str] | None = None
    if summary is None and not is_blank(item["document"]):
        task = SummaryTask(document=item["document"], original_document=item["document"])
        written = bench.summarizer.summarize([task])[0]
        if written.text is None:
            failure = (written.reason or Reason.SUMMARIZER_ERROR, written.detail)
        summary = written.text
    record = IncomingRecord(
        id=str(item["id"]),
        document=item["document"],
        summary=summary or "",
        service="command line",
        model=settings.summarizer.kind,
        received_at=now(),
        category=item.get("category") or None,
    )
    if failure is not None:
        return bench.pipeline.not_scored(record, *failure), record
    return bench.pipeline.score(record), record


def _text(option: str, value: str) -> str:
    """The content of a file, or the value itself where it can be no file name."""
    if value == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if not value.strip() or len(value) > 1024 or "\n" in value:
        return value
    path = Path(value)
    try:
        if path.is_file():
            return path.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        if not any(blank in value for blank in " \t"):
            raise UsageError(f"{option}: the file cannot be read ({error})") from None
    if any(blank in value for blank in " \t"):
        return value
    raise UsageError(
        f"{option}: {value!r} is no file; name one that exists, or - for standard input"
    )


def _batch(file: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_lines("--batch", file), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise UsageError(f"--batch: line {number} is no JSON ({error}); correct it") from None
        if not isinstance(item, dict):
            raise UsageError(f"--batch: line {number} is no object; write one a line")
        for field, needed in (("document", True), ("summary", False), ("category", False)):
            value = item.get(field)
            if not (isinstance(value, str) or (value is None and not needed)):
                raise UsageError(
                    f"--batch: line {number}: {field} is a {type(value).__name__}; "
                    "write it as a string"
                )
        yield {**item, "id": str(number) if item.get("id") is None else item["id"]}
