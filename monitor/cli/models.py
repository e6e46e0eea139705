"""`hss-monitor models`: which models are configured, and do they load."""

from __future__ import annotations

import typer

from monitor.cli.options import Config, Json, settings_of
from monitor.cli.output import emit, note, table
from monitor.errors import ModelUnavailable
from monitor.factuality.comparator import Unavailable
from monitor.settings import Settings

models = typer.Typer(help="List and check the configured models.", no_args_is_help=True)


@models.command("list")
def list_(config: Config = None, json_: Json = False) -> None:
    """The models that a scorer will load, by the key that names each."""
    rows = _rows(settings_of(config))
    if json_:
        for key, model in rows:
            emit({"key": key, "model": model})
    else:
        table(["key", "model"], rows)


@models.command("check")
def check(config: Config = None, json_: Json = False) -> None:
    """Load every model as a scorer would; exit code 3 names the one that is missing."""
    settings = settings_of(config)
    # Loads torch and all models, which is the point here.
    from monitor.workbench import build

    bench = build(settings, None)
    wanted = _factual(settings)
    for comparator in bench.comparators:
        # Scoring does without it, but that is not what was asked here.
        if isinstance(comparator, Unavailable) and wanted[comparator.name] is not None:
            raise ModelUnavailable(comparator.detail)
    if json_:
        emit({"fingerprint": bench.fingerprint, "made_of": bench.made_of})
    else:
        table(["key", "value"], list(bench.made_of.items()))
        note(f"all models load; their fingerprint is {bench.fingerprint}")


def _rows(settings: Settings) -> list[tuple[str, str]]:
    wanted = settings.summarizer
    summarizer = {
        "textrank": "extractive, on perturbation.language_model",
        "seq2seq": wanted.seq2seq.model,
        "causal": wanted.causal.model,
        "chat": f"{wanted.chat.model} at {wanted.chat.url}",
        "http": f"at {wanted.http.url}",
        "replay": f"the captured model at {wanted.replay.url}",
    }
    return [
        ("perturbation.language_model", settings.perturbation.language_model),
        ("perturbation.vectors", settings.perturbation.vectors),
        ("embedding.model", settings.embedding.model),
        (f"summarizer.{wanted.kind}", summarizer[wanted.kind]),
        *(
            (f"factuality.{name}_model", model)
            for name, model in _factual(settings).items()
            if model is not None
        ),
    ]


def _factual(settings: Settings) -> dict[str, str | None]:
    """The model of each factual check; `None` where none is configured."""
    return {"summac": settings.factuality.summac_model, "factcc": settings.factuality.factcc_model}
