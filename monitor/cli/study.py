"""`hss-monitor study`: figures that the documentation states, measured anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from monitor.cli import factuality
from monitor.cli.options import Config, settings_of
from monitor.cli.output import err, note
from monitor.demo.news import news_documents
from monitor.errors import UsageError
from monitor.records import IncomingRecord, SummaryTask
from monitor.stores import now

study = typer.Typer(help="Measure what the documentation states.", no_args_is_help=True)
study.command("factuality")(factuality.factuality)

Documents = Annotated[
    int, typer.Option("--documents", min=1, max=300, help="How many of the 300 news articles.")
]


@study.command("provisional")
def provisional(
    out: Annotated[Path, typer.Option("--out", help="File to write.")],
    documents: Documents = 150,
    config: Config = None,
) -> None:
    """Compute the provisional calibration that ships for the embedded models."""
    # Loads torch and all models.
    from monitor.scorer import build
    from monitor.scoring.normalization import ReferenceDocument, calibrate
    from monitor.scoring.provisional import dump

    settings = settings_of(config)
    bench = build(settings, None)
    reference = []
    for number, document in enumerate(
        track(news_documents()[:documents], description="scoring", console=err)
    ):
        task = SummaryTask(document=document, original_document=document)
        summary = bench.summarizer.summarize([task])[0].text
        result = bench.pipeline.score(
            IncomingRecord(
                id=str(number),
                document=document,
                summary=summary or "",
                service="study",
                model=settings.summarizer.kind,
                received_at=now(),
                category="news",
            )
        )
        distances = tuple(d for s in result.perturbations if (d := s.distance) is not None)
        reference.append(ReferenceDocument(category="news", distances=distances))
    made = calibrate(
        reference,
        settings=bench.made_of,
        window=f"{documents} articles of the Lee background corpus",
        clock=now,
        provisional=True,
    )
    try:
        out.write_text(dump(made), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"--out: {str(out)!r} cannot be written ({error.strerror}); name another file"
        ) from None
    for warning in made.warnings:
        note(f"warning: {warning}")
