"""Attributions and factual checks, as JSON and for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from monitor.cli.marked import legend, styled
from monitor.cli.output import cell, out, table
from monitor.investigate.marking import coloured
from monitor.investigate.noise_floor import NOT_ABOVE, above_floor
from monitor.investigate.record_parts import Check, MethodFacts, Word
from monitor.records import Attribution, Explanation, FactualScore, MethodResult


def attribution_row(explanation: Explanation | None) -> dict[str, Any]:
    """What `score --json` prints under `attribution`: one object a method."""
    if explanation is None:
        return {}
    return {
        result.method: {
            "words": result.words,
            "values": result.original.values,
            "instability": result.instability,
            "absolute": result.absolute,
            "one_minus_spearman": result.one_minus_spearman,
            "one_minus_cosine": result.one_minus_cosine,
            "noise_floor": result.noise_floor,
            "compared": result.compared,
            "evaluations": result.evaluations,
            "reason": result.reason,
            **_shape(result.original),
            "value_function": explanation.value,
            "perturbed": [
                {
                    "perturbation": number,
                    "values": made.values,
                    "reason": made.reason,
                    "evaluations": made.evaluations,
                    **_shape(made),
                }
                for number, made in zip(explanation.versions, result.perturbed, strict=False)
            ],
        }
        for result in explanation.methods
    }


def factuality_row(checks: Mapping[str, FactualScore]) -> dict[str, Any]:
    """What `score --json` prints under `factuality`: one object a check."""
    return {
        name: {"value": score.value, "reason": score.reason, "detail": score.detail}
        for name, score in checks.items()
    }


def _shape(made: Attribution) -> dict[str, Any]:
    known = made.values is not None
    return {
        "granularity": made.granularity if known else None,
        "distinct_values": made.distinct_values if known else None,
        "fit": made.fit,
    }


def print_methods(methods: Sequence[MethodResult | MethodFacts]) -> None:
    """One line a method, fresh or as it is stored; and which of them say little."""
    table(
        ["attribution", "instability", "noise floor", "1 − ρ", "1 − cos", "masks", ""],
        [
            (
                each.method,
                each.instability,
                each.noise_floor,
                each.one_minus_spearman,
                each.one_minus_cosine,
                each.evaluations,
                each.reason or "",
            )
            for each in methods
        ],
    )
    for each in methods:
        if not above_floor(each):
            out.print(cell(f"{each.method}: {NOT_ABOVE}"), soft_wrap=not out.is_terminal)


def print_checks(checks: Mapping[str, FactualScore | Check]) -> None:
    """One line a check, fresh or as it is stored."""
    table(
        ["check", "value", ""],
        [
            (name, score.value, f"{score.reason or ''} {score.detail}".strip())
            for name, score in checks.items()
        ],
    )


def print_explanation(explanation: Explanation, document: str) -> None:
    """The table of methods, then the document with each word on the colour of its attribution."""
    print_methods(explanation.methods)
    for result in explanation.methods:
        if result.original.values is not None:
            values = [float(value) for value in result.original.values]
            title = Text(f"\n{result.method}", style="bold")
            meaning = legend()
            out.print(title.append(f": {meaning}" if meaning else "", style="dim"))
            out.print(styled_values(document, explanation.spans, values))


def styled_values(document: str, spans: Sequence[tuple[int, int]], values: Sequence[float]) -> Text:
    """Green where φ > 0, red where φ < 0, deeper for a larger share of the greatest |φ|."""
    words = [
        Word(start=start, end=end, text=None, value=value, instability=None, unstable=False)
        for (start, end), value in zip(spans, values, strict=True)
    ]
    return styled(coloured(document, words))
