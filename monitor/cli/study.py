"""`hss-monitor study`: figures that the documentation states, measured anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import track

from monitor.cli import factuality
from monitor.cli.files import write_text
from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, err, note, plain
from monitor.demo.news import news_documents
from monitor.records import IncomingRecord, Strength, SummaryTask
from monitor.settings import Strengths
from monitor.stores import now

if TYPE_CHECKING:
    from monitor.workbench import Workbench

study = typer.Typer(help="Measure what the documentation states.", no_args_is_help=True)
study.command("factuality")(factuality.factuality)

COSINE_ERROR = 1e-5
"""Of single precision: the same sentence in another batch differs by so much."""
Documents = Annotated[
    int, typer.Option("--documents", min=1, max=300, help="How many of the 300 news articles.")
]


@study.command("perturbation")
def perturbation(
    documents: Documents = 300,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the perturbations.")] = 0,
    config: Config = None,
    json_: Json = False,
) -> None:
    """One version of each article at each strength: what holds, and what does not.

    Exit code 1 where a protected token changed, a listed opposite got through, or a changed
    sentence fell below γ.
    """
    # Loads torch and all models.
    from monitor.study.experiment import format_perturbation_figures, perturbation_figures
    from monitor.workbench import build, perturber_of

    settings = settings_of(config)
    bench = build(settings, None)

    figures = perturbation_figures(
        news_documents()[:documents],
        {
            strength: perturber_of(
                settings,
                Strengths(**{each.value: int(each is strength) for each in Strength}),
                language=bench.language,
                vectors=bench.vectors,
                encoder=bench.encoder,
            )
            for strength in Strength
        },
        language=bench.language,
        vocabulary=bench.vectors.key_to_index,
        encoder=bench.encoder,
        seed=seed,
        distance=partial(_distances, bench),
        progress=lambda items: track(items, description="perturbing", console=err),
    )
    if json_:
        for row in figures:
            emit({**plain(row), "share_reached": row.share_reached})
    else:
        typer.echo(format_perturbation_figures(figures))
    gamma = settings.perturbation.gamma
    if any(
        row.protected_changed
        or row.misaligned
        or row.opposites
        or (row.min_cosine is not None and row.min_cosine < gamma - COSINE_ERROR)
        for row in figures
    ):
        raise typer.Exit(1)


def _distances(bench: Workbench, document: str, versions: Sequence[str]) -> list[float | None]:
    """W₁ of the summary of each version from that of the document; `None` without a summary."""
    # Loads what the bench is made of already.
    from monitor.scoring.transport import transport

    tasks = [
        SummaryTask(document=text, original_document=document) for text in (document, *versions)
    ]
    texts = [summary.text or "" for summary in bench.summarizer.summarize(tasks)]
    baseline, *moved = bench.encoder.distributions(texts)
    return [
        None if baseline is None or there is None else transport(baseline, there).distance
        for there in moved
    ]


@study.command("provisional")
def provisional(
    out: Annotated[Path, typer.Option("--out", help="File to write.")],
    documents: Documents = 150,
    config: Config = None,
) -> None:
    """Compute the provisional calibration that ships for the embedded models."""
    # Loads torch and all models.
    from monitor.scoring.calibration import calibrate
    from monitor.scoring.normalization import ReferenceDocument
    from monitor.scoring.provisional import dump
    from monitor.workbench import build

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
    write_text("--out", out, dump(made))
    for warning in made.warnings:
        note(f"warning: {warning}")
