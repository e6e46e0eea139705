"""A fresh result, as one JSON object and for a terminal."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from monitor.cli.explained import (
    attribution_row,
    factuality_row,
    print_checks,
    print_explanation,
)
from monitor.cli.output import cell, number, out, table
from monitor.cli.record_words import swaps_of, unsupported_of
from monitor.records import IncomingRecord, PerturbationScore, ScoredRecord


def scored_row(result: ScoredRecord) -> dict[str, Any]:
    """The object that `score --json` prints: keys and order are part of the interface."""
    severity, support = result.severity, result.support
    normalizer = severity.normalizer if severity else None
    return {
        "id": result.record_id,
        "state": result.state,
        "hss": severity and severity.hss,
        "hss_low": severity and severity.low,
        "hss_high": severity and severity.high,
        "reason": result.reason,
        "detail": result.detail,
        "category": result.category,
        "calibration": result.calibration_id,
        "normalizer": normalizer and normalizer.value,
        "normalizer_category": normalizer and (normalizer.category or "pooled"),
        "fingerprint": result.fingerprint,
        "baseline": result.baseline,
        "baseline_summary": result.baseline_summary,
        "observed_distance": result.observed_distance,
        "null_distance": result.null_distance,
        "raw_distance": result.raw_distance,
        "excess": result.excess,
        "entity_support": support and support.entity_support,
        "entity_reason": support and support.entity_reason,
        "number_support": support and support.number_support,
        "number_reason": support and support.number_reason,
        "unsupported": support.unsupported if support else [],
        "perturbations": [_perturbation(score) for score in result.perturbations],
        "attribution": attribution_row(result.explanation),
        "factuality": factuality_row(result.checks),
        "truncated": result.truncated,
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "timings": {**result.stage_seconds, "core_seconds": result.core_seconds},
    }


def _perturbation(score: PerturbationScore) -> dict[str, Any]:
    made = score.perturbation
    return {
        "strength": made.strength,
        "share": made.share,
        "reached": made.reached,
        "min_cosine": made.min_cosine,
        "substitutions": [
            {
                "index": item.index,
                "original": item.original,
                "replacement": item.replacement,
                "similarity": item.similarity,
            }
            for item in made.substitutions
        ],
        "document": made.document,
        "summary": score.summary.text,
        "distance": score.distance,
        "reason": score.reason,
    }


def print_scored(result: ScoredRecord, record: IncomingRecord) -> None:
    """HSS with its interval and its companions, then what each rewording did."""
    severity, support = result.severity, result.support
    value = severity.hss if severity else None
    headline = Text()
    if value is None:
        headline.append(f"HSS unknown: {result.reason}", style="yellow")
    else:
        headline.append(f"HSS {number(value)}", style="bold red" if value >= 0.7 else "bold")
        if severity is not None and severity.low is not None and severity.high is not None:
            headline.append(f"  95 % [{number(severity.low)}, {number(severity.high)}]")
    headline.append(f"  {result.record_id} · {result.category or 'no category'}", style="dim")
    out.print(headline)
    table(
        [
            "raw distance",
            "null distance",
            "excess",
            "entity support",
            "number support",
            "calibration",
        ],
        [
            (
                result.raw_distance,
                result.null_distance,
                result.excess,
                support and support.entity_support,
                support and support.number_support,
                result.calibration_id,
            )
        ],
    )
    if support and support.unsupported:
        named = cell(unsupported_of(support.unsupported))
        out.print(Text("not in the document: ", style="red").append(named))
    if result.perturbations:
        table(
            ["strength", "share", "distance", "words replaced"],
            [
                (
                    str(score.perturbation.strength)
                    + ("" if score.perturbation.reached else ", band not reached"),
                    score.perturbation.share,
                    score.distance,
                    swaps_of(score.perturbation.substitutions),
                )
                for score in result.perturbations
            ],
        )
    if result.checks:
        print_checks(result.checks)
    if result.explanation is not None and result.explanation.probability is not None:
        print_explanation(result.explanation, record.document)
