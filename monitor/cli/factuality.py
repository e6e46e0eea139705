"""`hss-monitor study factuality`: factual checks against human labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import track
from rich.text import Text

from monitor.cli.files import read_lines
from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, err, note, out, table
from monitor.errors import UsageError, choices
from monitor.study.labelled import (
    CAVEATS,
    DATA_SETS,
    DataSet,
    LabelledSummary,
    read_labelled,
    sample,
)
from monitor.study.statistics import RESAMPLES

if TYPE_CHECKING:
    from monitor.study.discrimination import Figure

LEGEND = (
    "AUROC: how often an unfaithful summary looks worse than a faithful one; 0.5 is chance. "
    "* trivial baseline. 95 %: bootstrap over documents. bigrams: AUROC of novel_bigrams over the "
    "known rows of the check. within: AUROC over pairs by one system (how many: --json). "
    "known: rows with a value."
)


def factuality(
    data: Annotated[Path, typer.Option("--data", help="Folder with the judged summaries.")],
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Rows drawn from each file.")
    ] = None,
    summac_model: Annotated[
        str | None, typer.Option("--summac-model", help="Folder or hub id of an NLI model.")
    ] = None,
    factcc_model: Annotated[
        str | None,
        typer.Option("--factcc-model", help="Folder or hub id of a correctness classifier."),
    ] = None,
    resamples: Annotated[
        int, typer.Option("--resamples", min=100, help="Of the bootstrap over documents.")
    ] = RESAMPLES,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of sample and bootstrap.")] = 0,
    config: Config = None,
    json_: Json = False,
) -> None:
    """AUROC of each factual check on public data, beside two trivial baselines."""
    settings = settings_of(config)
    collections = _read(data)
    # Bring spaCy, and torch where a model is named: wrong input is found before that.
    from monitor.embedding.language import load_language
    from monitor.embedding.sentences import SentenceSplitter
    from monitor.factuality.configured import NamedModel, comparators
    from monitor.factuality.overlap import OverlapCheck
    from monitor.study.checks import check_all
    from monitor.study.discrimination import figures

    language = load_language(settings.perturbation.language_model)
    overlap = OverlapCheck(language)
    models = comparators(
        SentenceSplitter(language).split,
        summac=NamedModel(key="--summac-model", source=summac_model),
        factcc=NamedModel(key="--factcc-model", source=factcc_model),
        allow_download=settings.models.allow_download,
    )
    for collection, every in collections:
        rows = sample(every, limit, seed=seed)

        def steps(
            batches: Sequence[Sequence[LabelledSummary]], title: str = collection.title
        ) -> Iterable[Sequence[LabelledSummary]]:
            return track(batches, description=title, console=err)

        checks = check_all(rows, overlap, models, steps=steps)
        found = figures(rows, checks, resamples=resamples, seed=seed)
        if json_:
            emit(_object(collection, rows, len(every), found, resamples, seed))
        else:
            _print(collection, rows, len(every), found)
    if not json_:
        out.print(Text(LEGEND))
        for caveat in CAVEATS:
            out.print(Text(f"· {caveat}"))


def _read(folder: Path) -> list[tuple[DataSet, list[LabelledSummary]]]:
    """The collections that are there; those that are not are named."""
    found = []
    for collection in DATA_SETS:
        file = folder / f"{collection.name}.jsonl"
        if not file.is_file():
            note(f"{collection.title}: left out, {file.name} is not in --data")
            continue
        rows = read_labelled(read_lines("--data", file), name=file.name)
        found.append((collection, rows))
    if not found:
        names = choices(f"{collection.name}.jsonl" for collection in DATA_SETS)
        raise UsageError(f"--data: {str(folder)!r} holds none of {names}; name their folder")
    return found


def _object(
    collection: DataSet,
    rows: Sequence[LabelledSummary],
    available: int,
    found: Sequence[Figure],
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    return {
        "dataset": collection.name,
        "rows": len(rows),
        "rows_in_file": available,
        "documents": len({row.document for row in rows}),
        "unfaithful": sum(row.unfaithful for row in rows),
        "rule": collection.rule,
        "caveats": CAVEATS,
        "resamples": resamples,
        "seed": seed,
        "figures": [
            {
                "check": each.check,
                "baseline": each.baseline,
                "auroc": each.auroc,
                "low": each.interval and each.interval.low,
                "high": each.interval and each.interval.high,
                "interval_reason": each.interval_reason,
                "novel_bigrams_auroc": each.novel_bigrams,
                "within": each.within,
                "within_pairs": each.within_pairs,
                "known": each.known,
                "share": each.share,
                "unfaithful": each.unfaithful,
                "documents": each.documents,
                "missing": each.missing,
                "reason": each.reason,
                "detail": each.detail,
            }
            for each in found
        ],
    }


def _print(
    collection: DataSet, rows: Sequence[LabelledSummary], available: int, found: Sequence[Figure]
) -> None:
    table(
        ["check", "AUROC", "95 %", "bigrams", "within", "known", "missing"],
        [
            (
                f"{each.check}*" if each.baseline else each.check,
                each.auroc,
                each.interval and f"{each.interval.low:.3f}–{each.interval.high:.3f}",
                each.novel_bigrams,
                each.within,
                f"{each.known} ({each.known / max(each.rows, 1):.0%})",
                ", ".join(reason.value for reason in each.missing) or None,
            )
            for each in found
        ],
        title=f"{collection.title}: {len(rows)} of {available} rows, "
        f"{len({row.document for row in rows})} documents, "
        f"{sum(row.unfaithful for row in rows)} unfaithful",
    )
    for each in found:
        if each.reason is not None:
            out.print(Text(f"{each.check}: {each.reason.value}: {each.detail}"))
    out.print(Text(f"{collection.rule}\n"))
