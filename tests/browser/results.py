"""What a scorer would have found out about the records of the night."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any

import numpy as np

from monitor.records import (
    Attribution,
    Explanation,
    FactualScore,
    Granularity,
    MethodResult,
    Normalizer,
    NullRun,
    Perturbation,
    PerturbationScore,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
    Substitution,
    Summary,
    Support,
    Transport,
    UnsupportedFact,
)

NORMALIZER = Normalizer(category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320)

SENTENCES = (
    "The harbour council of Wexford approved a budget of 4.2 million pounds on Monday night.",
    "Councillor Orla Byrne said that the new quay would bring trade back to the old town.",
    "Fishermen had feared that the works would close the channel for the whole summer.",
    "An independent engineer found no danger for the sea wall, which dates from 1834.",
    "The vote was 14 to 9, with two members absent, after a debate of almost five hours.",
    "Work begins in March and is expected to take eighteen months.",
)
DOCUMENT = " ".join(SENTENCES)
GOOD_SUMMARY = (
    "Wexford's harbour council approved a budget of 4.2 million pounds for a new quay. "
    "Councillor Orla Byrne expects trade to return to the old town."
)
BAD_SUMMARY = (
    "Dublin's city council rejected a budget of 42 million pounds for a new airport. "
    "Mayor Brian Kelly warned that the sea wall would collapse by 2027."
)
HOSTILE = (
    "<script>document.title='owned'</script> \"quoted\" & 'single' <b>not bold</b> "
    "<img src=x onerror=\"document.title='owned'\"> "
    + "w" * 3000
    + " \u202eعقد المجلس جلسة طويلة يوم الاثنين\u202c 🎉👩‍👩‍👧‍👦 \x1b[31mred\x1b[0m {{ 7 * 7 }} "
)
SWAPS = (
    ("budget", "plan", 0.71),
    ("trade", "commerce", 0.83),
    ("works", "construction", 0.68),
    ("danger", "risk", 0.79),
    ("debate", "discussion", 0.81),
    ("summer", "season", 0.66),
)


def scored(
    name: str, category: str, document: str, *, bad: bool, rng: random.Random, at: datetime
) -> ScoredRecord:
    """A complete result: eight versions, two null runs, SHAP and LIME."""
    summary = BAD_SUMMARY if bad else GOOD_SUMMARY
    spans = _spans(document)
    versions = [_version(number, document, summary, spans, bad=bad, rng=rng) for number in range(8)]
    distances = [v.transport.distance for v in versions if v.transport is not None]
    raw = float(np.mean(distances))
    hss = float(np.mean([min(d / NORMALIZER.value, 1.0) for d in distances]))
    null = 0.05 + 0.02 * rng.random()
    unsupported = _unsupported(summary) if bad else ()
    return ScoredRecord(
        record_id=name,
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category=category,
        scored_at=at,
        fingerprint="fp",
        severity=Severity(
            hss=hss,
            low=max(0.0, hss - 0.11),
            high=min(1.0, hss + 0.11),
            reason=None,
            interval_reason=None,
            normalizer=NORMALIZER,
        ),
        calibration_id="first-week",
        baseline="observed",
        baseline_summary=summary,
        raw_distance=raw,
        null_distance=null,
        excess=raw - null,
        support=Support(
            entity_support=0.25 if bad else 1.0,
            entity_reason=None,
            number_support=0.0 if bad else 1.0,
            number_reason=None,
            unsupported=unsupported,
            entities=4,
            numbers=2,
        ),
        checks={
            "content_word_precision": FactualScore(value=0.4 if bad else 0.95, reason=None),
            "summac": FactualScore(value=-0.3 if bad else 0.6, reason=None),
            "factcc": FactualScore(
                value=None, reason=Reason.UNAVAILABLE, detail="no model is configured"
            ),
        },
        explanation=_explained(document, spans, bad=bad, rng=rng),
        perturbations=tuple(versions),
        null_runs=(
            NullRun(summary=Summary(text=summary, seconds=0.9), distance=null, source="run"),
            NullRun(
                summary=Summary(text=summary.replace("budget", "plan"), seconds=1.1),
                distance=null,
                source="choice",
            ),
        ),
        document_words=len(spans),
        summary_words=len(summary.split()),
        stage_seconds={"perturb": 1.4, "summarize": 7.2, "embed": 0.2, "explain": 3.1},
        core_seconds=2.1,
        prompt_tokens=1840,
        completion_tokens=420,
    )


def _spans(document: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in document.split():
        start = document.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans


def _unsupported(summary: str) -> tuple[UnsupportedFact, ...]:
    facts = (("entity", "Dublin"), ("number", "42"), ("entity", "Brian Kelly"), ("number", "2027"))
    return tuple(
        UnsupportedFact(kind=kind, text=text, start=summary.index(text)) for kind, text in facts
    )


def _version(
    number: int,
    document: str,
    summary: str,
    spans: list[tuple[int, int]],
    *,
    bad: bool,
    rng: random.Random,
) -> PerturbationScore:
    strength = (Strength.LOW, Strength.MODERATE, Strength.HIGH)[number % 3]
    swaps, changed, shift = [], document, 0
    for index, (start, end) in enumerate(spans):
        word = document[start:end].strip(".,")
        for original, replacement, similarity in SWAPS:
            if word == original and rng.random() < 0.3 + 0.2 * (number % 3):
                swaps.append(
                    Substitution(
                        index=index,
                        original=original,
                        replacement=replacement,
                        similarity=similarity,
                        start=start,
                    )
                )
                at = start + shift
                changed = changed[:at] + replacement + changed[at + len(original) :]
                shift += len(replacement) - len(original)
    perturbation = Perturbation(
        strength=strength,
        share=0.05 + 0.08 * (number % 3),
        reached=number != 5,
        substitutions=tuple(swaps),
        document=changed,
        min_cosine=0.88,
    )
    if number == 7 and bad:
        return PerturbationScore(
            perturbation=perturbation,
            summary=Summary(
                text=None, reason=Reason.SUMMARIZER_TIMEOUT, detail="no answer in 30 s"
            ),
            transport=None,
            reason=Reason.SUMMARIZER_TIMEOUT,
        )
    source = tuple(f"{part.strip('. ')}." for part in summary.split(". ") if part)
    target = _rewritten(number) if bad else source
    far = rng.uniform(0.62, 1.25) if bad else rng.uniform(0.02, 0.3)
    cost = np.array([[min(far * rng.uniform(0.75, 1.2), 1.38) for _ in target] for _ in source])
    plan = _plan(len(source), len(target), cost)
    return PerturbationScore(
        perturbation=perturbation,
        summary=Summary(text=" ".join(target), seconds=0.8 + 0.1 * number, attempts=1),
        transport=Transport(
            distance=float((plan * cost).sum()),
            plan=plan,
            cost=cost,
            source=source,
            target=target,
        ),
    )


def _rewritten(number: int) -> tuple[str, ...]:
    choices = (
        "Galway's planning board delayed a stadium of 12 million euros.",
        "Mayor Brian Kelly praised the fishermen of the western coast for their patience.",
        "Dublin's city council rejected a budget of 42 million pounds for a new airport.",
        "The sea wall was rebuilt in 1834 after a storm that closed the channel for a summer.",
    )
    return tuple(choices[(number + index) % 4] for index in range(1 + number % 3))


def _plan(n: int, m: int, cost: Any) -> Any:
    """A feasible plan by the north-west corner, which is all that a picture needs."""
    plan, left, right = np.zeros((n, m)), np.full(n, 1 / n), np.full(m, 1 / m)
    i = j = 0
    while i < n and j < m:
        mass = min(left[i], right[j])
        plan[i, j] += mass
        left[i] -= mass
        right[j] -= mass
        i, j = (i + 1, j) if left[i] < 1e-12 else (i, j + 1)
    return plan


def _explained(
    document: str, spans: list[tuple[int, int]], *, bad: bool, rng: random.Random
) -> Explanation:
    words = tuple(document[start:end] for start, end in spans)

    def values() -> Any:
        found = np.array([rng.gauss(0, 0.02) for _ in words])
        for index in range(len(words)):
            if rng.random() < 0.12:
                found[index] += rng.choice((-0.16, 0.1, 0.2, 0.3))
        return found

    original = values()
    results = []
    for method in ("shap", "lime"):
        near = [
            Attribution(
                values=values() if bad else original * rng.uniform(0.9, 1.1),
                granularity=Granularity.SENTENCE_THEN_WORD,
                evaluations=200,
            )
            for _ in range(3)
        ]
        results.append(
            MethodResult(
                method=method,
                words=words,
                original=Attribution(
                    values=original,
                    granularity=Granularity.SENTENCE_THEN_WORD,
                    evaluations=200,
                    fit=0.71 if method == "lime" else None,
                ),
                perturbed=tuple(near),
                instability=0.62 if bad else 0.11,
                absolute=0.5 if bad else 0.09,
                one_minus_spearman=0.8 if bad else 0.1,
                one_minus_cosine=0.7 if bad else 0.05,
                noise_floor=0.08,
                compared=3,
                evaluations=800,
                reason=None,
            )
        )
    return Explanation(
        methods=tuple(results),
        probability=0.25,
        value="similarity",
        versions=(0, 1, 2),
        spans=tuple(spans),
    )
