"""What the doctor found, and what it advises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.cli.cost import Cost
from monitor.cli.evaluating import EvaluationState
from monitor.cli.output import counted

LEAST_CHARACTERS = 40
"""A shorter document is one that was cut wrongly, as a rule."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CutDocument:
    """A document as it was cut from its prompt."""

    id: str
    """Of its record."""
    service: str
    category: str | None
    begins: str | None
    """Its first characters; `None` where texts are not kept."""
    characters: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What `doctor --json` prints: keys and order are part of the interface."""

    sidecar: Mapping[str, Any] | None
    """`GET /api/status` of the running sidecar; `None` where it gave none."""
    states: Mapping[str, int]
    """Records by state."""
    queue_age_seconds: float | None
    """Of the record that has waited for longest."""
    documents: Sequence[CutDocument]
    """The latest."""
    cost: Cost
    evaluation: EvaluationState
    advice: Sequence[str]
    """What is wrong, with the remedy; empty where all is well."""


def advice_of(
    sidecar: Mapping[str, Any] | None,
    *,
    queued: int,
    documents: Sequence[CutDocument],
    evaluation: EvaluationState,
) -> list[str]:
    """What keeps records from being scored or judged. Without a sidecar only what is stored."""
    advice = [] if sidecar is None else _of_sidecar(sidecar, queued, evaluation)
    advice += [
        f"the document of record {each.id} has {counted(each.characters, 'character')}: check "
        "ingest.extraction"
        for each in documents
        if each.characters is not None and each.characters < LEAST_CHARACTERS
    ]
    return advice


def _of_sidecar(sidecar: Mapping[str, Any], queued: int, evaluation: EvaluationState) -> list[str]:
    advice = [
        f"service {missing['service']!r} sends calls without content: {missing['remedy']}"
        for missing in sidecar["content_missing"]
    ]
    if not sidecar["received"]:
        advice.append(
            "nothing has arrived: send OTLP to /v1/traces or records to /v1/records of this port"
        )
    if queued and not sidecar["scorers_running"]:
        advice.append("records wait and no scorer runs: see the sidecar's log")
    begun = evaluation.holder is not None and evaluation.evaluated_at is None
    if evaluation.enabled and not evaluation.running and not begun:
        advice.append(
            "drift and thresholds are not being judged: see the evaluator's lines in the "
            "sidecar's log"
        )
    return advice
