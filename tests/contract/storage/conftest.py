"""Records, results and a clock that the storage tests are made of."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from monitor.records import (
    Attribution,
    CapturedRequest,
    Explanation,
    FactualScore,
    Granularity,
    IncomingRecord,
    Message,
    MethodResult,
    Normalizer,
    NullRun,
    Perturbation,
    PerturbationScore,
    Reason,
    RecordState,
    SampledRecord,
    SamplingDecision,
    ScoredRecord,
    Severity,
    Stratum,
    Strength,
    Substitution,
    Summary,
    Support,
    Transport,
    UnsupportedFact,
)
from monitor.storage.content import ContentCodec, ContentMode, TextHash
from monitor.storage.engine import Database
from monitor.storage.queue import SqlRecordQueue

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HASH_KEY = b"a key for tests only"


class FakeClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


MakeSampled = Callable[..., SampledRecord]
MakeResult = Callable[..., ScoredRecord]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(database: Database, clock: FakeClock) -> SqlRecordQueue:
    return SqlRecordQueue(
        database,
        clock=clock,
        codec=ContentCodec(ContentMode.FULL),
        text_hash=TextHash(HASH_KEY),
        max_attempts=2,
    )


@pytest.fixture
def make_sampled() -> MakeSampled:
    """A sampled record; `seconds` after the start, with the fields that a test cares about."""

    def make(
        record_id: str = "r1",
        *,
        seconds: float = 0.0,
        probability: float = 0.5,
        front: str = "front-a",
        **fields: object,
    ) -> SampledRecord:
        values: dict[str, object] = {
            "document": "The harbour council approved the budget on Monday.",
            "summary": "The council approved the budget.",
            "service": "news",
            "model": "gemma",
            "request": CapturedRequest(
                messages=(Message(role="user", content="Summarise: the harbour council"),),
                model="gemma-requested",
                parameters={"temperature": 0.2, "stop": ["\n"]},
            ),
            "alternatives": ("The budget was approved.",),
        } | fields
        record = IncomingRecord(
            id=record_id,
            received_at=START + timedelta(seconds=seconds),
            **values,  # type: ignore[arg-type]  # what a test hands over
        )
        stratum = Stratum(
            service=record.service, model=record.model, category=record.category or ""
        )
        return SampledRecord(
            record=record,
            decision=SamplingDecision(
                sampled=True, stratum=stratum, probability=probability, epoch=3
            ),
            front=front,
        )

    return make


@pytest.fixture
def make_result() -> MakeResult:
    """A complete result with two perturbations, of which the second has no summary."""

    def make(record_id: str = "r1", *, hss: float | None = 0.25, **fields: object) -> ScoredRecord:
        values: dict[str, object] = {
            "state": RecordState.SCORED,
            "reason": None,
            "detail": "",
            "category": "politics",
            "scored_at": START + timedelta(minutes=1),
            "fingerprint": "fp1",
            "severity": Severity(
                hss=hss,
                low=0.1,
                high=0.4,
                reason=None,
                interval_reason=None,
                normalizer=Normalizer(
                    category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320
                ),
            ),
            "calibration_id": "cal-1",
            "baseline": "observed",
            "baseline_summary": "The council approved the budget.",
            "raw_distance": 0.2,
            "null_distance": 0.05,
            "excess": 0.15,
            "support": Support(
                entity_support=0.5,
                entity_reason=None,
                number_support=None,
                number_reason=None,
                unsupported=(UnsupportedFact(kind="entity", text="Zanzibar", start=4),),
                entities=2,
                numbers=0,
            ),
            "checks": {
                "content_word_precision": FactualScore(value=0.75, reason=None),
                "summac": FactualScore(value=-0.25, reason=None, sentences=(-0.25,)),
                "factcc": FactualScore(
                    value=None, reason=Reason.UNAVAILABLE, detail="no model is configured"
                ),
            },
            "explanation": _explained(),
            "perturbations": (_measured(), _unanswered()),
            "null_runs": (
                NullRun(
                    summary=Summary(text="The council said yes.", seconds=0.5),
                    distance=0.05,
                    source="run",
                ),
            ),
            "document_words": 8,
            "summary_words": 5,
            "stage_seconds": {"perturb": 0.25, "summarize": 1.5},
            "core_seconds": 2.5,
        } | fields
        return ScoredRecord(record_id=record_id, **values)  # type: ignore[arg-type]  # as above

    return make


@pytest.fixture
def finish(
    queue: SqlRecordQueue, make_sampled: MakeSampled, make_result: MakeResult, clock: FakeClock
) -> Callable[..., None]:
    """Take a record in and finish it; `record` and `result` are what differs."""

    def run(
        record_id: str,
        *,
        record: dict[str, object] | None = None,
        result: dict[str, object] | None = None,
    ) -> None:
        queue.accept([make_sampled(record_id, **(record or {}))])
        clock.advance(10)
        [leased] = queue.lease("w", count=1, seconds=60)
        queue.finish(leased.lease, make_result(record_id, **(result or {})))

    return run


def _explained() -> Explanation:
    """SHAP of the document and its first version, LIME without a budget."""
    words = ("The", "harbour", "council", "approved", "the", "budget", "on", "Monday")
    document = "The harbour council approved the budget on Monday."
    starts = [document.index(word) for word in words]
    shap = MethodResult(
        method="shap",
        words=words,
        original=Attribution(
            values=np.array([0.5, -0.25, 0.125, 0, 0, 0, 0, 1]),
            granularity=Granularity.SENTENCE_THEN_WORD,
            evaluations=40,
        ),
        perturbed=(
            Attribution(values=None, reason=Reason.SUMMARIZER_TIMEOUT, evaluations=3),
            Attribution(values=np.arange(8) / 8, evaluations=40, fit=0.5),
        ),
        instability=0.3,
        absolute=0.2,
        one_minus_spearman=0.4,
        one_minus_cosine=0.1,
        noise_floor=0.05,
        compared=1,
        evaluations=123,
        reason=None,
    )
    lime = MethodResult(
        method="lime",
        words=words,
        original=Attribution(values=None, reason=Reason.OVER_BUDGET),
        perturbed=(),
        instability=None,
        absolute=None,
        one_minus_spearman=None,
        one_minus_cosine=None,
        noise_floor=None,
        compared=0,
        evaluations=0,
        reason=Reason.OVER_BUDGET,
    )
    return Explanation(
        methods=(shap, lime),
        probability=0.25,
        value="similarity",
        versions=(0, 1),
        spans=tuple((start, start + len(word)) for start, word in zip(starts, words, strict=True)),
    )


def _measured() -> PerturbationScore:
    return PerturbationScore(
        perturbation=Perturbation(
            strength=Strength.MODERATE,
            share=0.125,
            reached=True,
            substitutions=(
                Substitution(
                    index=1, original="harbour", replacement="seaport", similarity=0.75, start=4
                ),
            ),
            document="The seaport council approved the budget on Monday.",
            min_cosine=0.9,
        ),
        summary=Summary(text="The seaport council agreed. It was Monday.", seconds=1.0, attempts=2),
        transport=Transport(
            distance=0.2,
            plan=np.array([[0.5, 0.5]]),
            cost=np.array([[0.1, 0.3]]),
            source=("The council approved the budget.",),
            target=("The seaport council agreed.", "It was Monday."),
        ),
    )


def _unanswered() -> PerturbationScore:
    return PerturbationScore(
        perturbation=Perturbation(
            strength=Strength.LOW,
            share=0.05,
            reached=True,
            substitutions=(),
            document="The harbour council approved the finances on Monday.",
            min_cosine=0.95,
        ),
        summary=Summary(text=None, reason=Reason.SUMMARIZER_TIMEOUT, detail="no answer in 30 s"),
        transport=None,
        reason=Reason.SUMMARIZER_TIMEOUT,
    )
