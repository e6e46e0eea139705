"""Summaries that people judged, and what has to be said beside any figure made from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.errors import MalformedInput


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledSummary:
    """One summary of one document with a human verdict."""

    document: str
    summary: str
    model: str
    """The system that wrote the summary; its name, as the data set gives it."""
    unfaithful: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class DataSet:
    """A public collection of judged summaries, and how its labels came about."""

    name: str
    """Of the file, `{name}.jsonl`."""
    title: str
    rule: str
    """When a summary counts as unfaithful."""


DATA_SETS = (
    DataSet(
        name="frank_valid",
        title="FRANK, validation part",
        rule="unfaithful where the judges' factuality, a mean over sentences, is below 1",
    ),
    DataSet(
        name="summeval",
        title="SummEval",
        rule="unfaithful where the experts' mean consistency is at most 4 of 5, faithful at 5; "
        "what lies between is not in the file",
    ),
    DataSet(
        name="storysumm_val",
        title="StorySumm, validation part",
        rule="unfaithful where people marked a sentence of the summary as wrong",
    ),
    DataSet(
        name="summedits",
        title="SummEdits",
        rule="unfaithful where people found the edited summary inconsistent",
    ),
)

CAVEATS = (
    "The labels judge a stored summary that another model wrote. A score that rewords the "
    "document and summarizes it again measures the stability of the re-summarizer, so no figure "
    "here is a figure of the HSS.",
    "Trivial baselines separate as well: compare each check with the share of summary bigrams "
    "that are not in the document (also stated over the very rows of the check) and with the "
    "length of the summary.",
    "The system that wrote the summary is a confounder: `within` orders only pairs of summaries "
    "by one system.",
    "A check without a value for a row leaves it out: its figure is over its known rows only.",
)
"""Printed with every figure, in whatever form."""


def read_labelled(lines: Iterable[str], *, name: str) -> list[LabelledSummary]:
    """The judged summaries of a file of JSON lines with `document, summary, model, label`.

    `label` is 1 for unfaithful and 0 for faithful. Raises `MalformedInput` that names the
    file and the line, and quotes no text.
    """
    return [
        _row(line, f"{name}, line {number}") for number, line in enumerate(lines, 1) if line.strip()
    ]


def sample(
    rows: Sequence[LabelledSummary], limit: int | None, *, seed: int = 0
) -> Sequence[LabelledSummary]:
    """At most `limit` rows, drawn without replacement, in their old order.

    Not the first ones: a file may be ordered by domain, by system or by label.
    """
    if limit is None or limit >= len(rows):
        return rows
    drawn = np.random.default_rng(seed).choice(len(rows), size=limit, replace=False)
    return [rows[index] for index in sorted(drawn)]


def _row(line: str, place: str) -> LabelledSummary:
    try:
        item = json.loads(line)
    except ValueError:
        raise MalformedInput(place, "no JSON", "write one object a line") from None
    if not isinstance(item, Mapping):
        raise MalformedInput(place, "no object", "write one object a line")
    for field in ("document", "summary", "model"):
        if not isinstance(item.get(field), str):
            raise MalformedInput(
                f"{place}: {field}",
                f"is of type {type(item.get(field)).__name__}",
                "write it as a string",
            )
    label = item.get("label")
    # True == 1 and 1.0 == 1 in Python, and both say clearly enough what is meant.
    if label not in (0, 1):
        raise MalformedInput(
            f"{place}: label",
            f"is of type {type(label).__name__} and neither 0 nor 1",
            "write 1 for unfaithful, 0 for faithful, or leave the row out",
        )
    return LabelledSummary(
        document=item["document"],
        summary=item["summary"],
        model=item["model"],
        unfaithful=bool(label),
    )
