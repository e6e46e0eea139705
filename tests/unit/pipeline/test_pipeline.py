"""The pipeline with plain stages: what it scores, what it refuses, and what it leaves unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import fmean

import numpy as np
import pytest

from monitor.pipeline import Pipeline, Stages
from monitor.records import (
    Calibration,
    Explanation,
    FactualScore,
    IncomingRecord,
    Perturbation,
    PerturbationSet,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
    Summary,
    SummaryDistribution,
    SummaryTask,
    Support,
    Transport,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = IncomingRecord(
    id="r", document="one two three", summary="s0", service="svc", model="m", received_at=NOW
)
SUPPORT = Support(
    entity_support=0.5,
    entity_reason=None,
    number_support=None,
    number_reason=Reason.NO_NUMBERS,
    unsupported=(),
    entities=2,
    numbers=0,
)


class FourVersions:
    """Versions `v0`…`v3` of every document."""

    def __init__(self, count: int = 4, reason: Reason | None = None) -> None:
        self.count, self.reason = count, reason
        self.seeds: list[int] = []

    def perturb(self, document: str, *, seed: int) -> PerturbationSet:
        self.seeds.append(seed)
        versions = tuple(
            Perturbation(
                strength=Strength.LOW,
                share=0.05,
                reached=True,
                substitutions=(),
                document=f"v{number}",
                min_cosine=0.9,
            )
            for number in range(self.count)
        )
        return PerturbationSet(perturbations=versions, reason=self.reason, words=3, eligible=2)


class Answering:
    """Answers by document; the summary `sN` lies N / 10 away from `s0`."""

    name = "answering"

    def __init__(
        self, answers: dict[str, Summary], *, replays: bool = True, deterministic: bool = False
    ) -> None:
        self.answers = answers
        self.replays, self.deterministic = replays, deterministic
        self.batches: list[list[str]] = []

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        self.batches.append([task.document for task in tasks])
        return [self.answers[task.document] for task in tasks]


class OneSentence:
    name = "one"

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        raise AssertionError

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        return [
            SummaryDistribution(sentences=(text,), embeddings=np.array([[1.0]])) if text else None
            for text in texts
        ]


def distance(a: SummaryDistribution, b: SummaryDistribution) -> Transport:
    away = abs(int(a.sentences[0][1:]) - int(b.sentences[0][1:])) / 10
    one = np.array([[1.0]])
    return Transport(
        distance=away, plan=one, cost=one * away, source=a.sentences, target=b.sentences
    )


def severity(
    runs: Sequence[tuple[Strength, float]], calibration: Calibration | None, category: str
) -> Severity:
    hss = fmean(value for _, value in runs) if calibration else None
    reason = None if calibration else Reason.UNCALIBRATED
    return Severity(
        hss=hss, low=None, high=None, reason=reason, interval_reason=reason, normalizer=None
    )


CHECKED = FactualScore(value=0.5, reason=None)


class Supporting:
    def check(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        return [SUPPORT for _ in pairs]


CALIBRATION = Calibration(
    id="c1",
    fingerprint="f",
    settings={},
    created_at=NOW,
    window="w",
    since=None,
    until=None,
    provisional=False,
    normalizers=(),
)
ANSWERS = {
    "one two three": Summary(text="s1", prompt_tokens=10),
    "v0": Summary(text="s2", prompt_tokens=10),
    "v1": Summary(text="s4"),
    "v2": Summary(text="s6"),
    "v3": Summary(text="s8"),
}


def pipeline(
    summarizer: Answering,
    *,
    perturber: FourVersions | None = None,
    calibration: Calibration | None = CALIBRATION,
    null_runs: int = 2,
    observed: bool | None = None,
    max_words: int = 100,
    attribute: Callable[[IncomingRecord, ScoredRecord], Explanation | None] = lambda *_: None,
) -> Pipeline:
    return Pipeline(
        Stages(
            perturber=perturber or FourVersions(),
            summarizer=summarizer,
            encoder=OneSentence(),
            distance=distance,
            severity=severity,
            support=Supporting(),
            category=lambda record: record.category or "general",
            calibration=lambda: calibration,
            attribute=attribute,
            check=lambda document, summary: {"overlap": CHECKED} if summary == "s0" else {},
        ),
        fingerprint="f",
        observed_baseline=summarizer.replays if observed is None else observed,
        null_runs=null_runs,
        max_words=max_words,
        seed=7,
        clock=lambda: NOW,
    )


def test_the_observed_summary_is_the_baseline_of_a_replay() -> None:
    """y₀ = y where model and prompt are the same: D_k against s0 are .2, .4, .6, .8."""
    result = pipeline(Answering(ANSWERS)).score(RECORD)
    assert result.state is RecordState.SCORED
    assert (result.baseline, result.baseline_summary) == ("observed", "s0")
    assert [score.distance for score in result.perturbations] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert result.raw_distance == pytest.approx(0.5)
    assert result.observed_distance is None


def test_null_control_is_stored_and_subtracted_beside_the_score() -> None:
    """A re-run gives s1, .1 from s0: serving noise that HSS contains."""
    result = pipeline(Answering(ANSWERS)).score(RECORD)
    assert len(result.null_runs) == 2
    assert result.null_distance == pytest.approx(0.1)
    assert result.excess == pytest.approx(0.4)


def test_another_summarizer_measures_from_its_own_summary() -> None:
    """y₀ = s1; the observed s0 is .1 away from it, a signal of its own."""
    result = pipeline(Answering(ANSWERS, replays=False)).score(RECORD)
    assert (result.baseline, result.baseline_summary) == ("own", "s1")
    assert result.raw_distance == pytest.approx(0.4)
    assert result.observed_distance == pytest.approx(0.1)


def test_a_deterministic_summarizer_makes_one_null_run() -> None:
    """A second one would cost a call and tell nothing."""
    summarizer = Answering(ANSWERS, replays=False, deterministic=True)
    result = pipeline(summarizer).score(RECORD)
    assert len(result.null_runs) == 1
    assert summarizer.batches == [["one two three"] * 2 + ["v0", "v1", "v2", "v3"]]


def test_spare_choices_stand_in_for_null_runs() -> None:
    """They were paid for already: no further call on the unchanged document."""
    summarizer = Answering(ANSWERS)
    result = pipeline(summarizer).score(replace(RECORD, alternatives=("s2", "s4")))
    assert [run.source for run in result.null_runs] == ["choice", "choice"]
    assert result.null_distance == pytest.approx(0.3)
    assert summarizer.batches == [["v0", "v1", "v2", "v3"]]


def test_without_null_runs_noise_is_unknown_not_zero() -> None:
    """An excess computed from a missing control would be a lie."""
    result = pipeline(Answering(ANSWERS), null_runs=0).score(RECORD)
    assert (result.null_distance, result.excess) == (None, None)


def test_an_uncalibrated_record_keeps_its_distances() -> None:
    """Raw distances are stored meanwhile; HSS follows once `calibrate` ran."""
    result = pipeline(Answering(ANSWERS), calibration=None).score(RECORD)
    assert result.state is RecordState.SCORED
    assert result.reason is Reason.UNCALIBRATED
    assert result.severity is not None
    assert result.severity.hss is None
    assert result.raw_distance == pytest.approx(0.5)
    assert result.calibration_id is None


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (replace(RECORD, document="  \n"), Reason.EMPTY_DOCUMENT),
        (replace(RECORD, document="\u200b\u200d \ufeff\u202e"), Reason.EMPTY_DOCUMENT),
        (replace(RECORD, summary=""), Reason.EMPTY_SUMMARY),
        (replace(RECORD, summary="\u200b"), Reason.EMPTY_SUMMARY),
        (replace(RECORD, document="w " * 101), Reason.TOO_LONG),
    ],
)
def test_an_unusable_record_is_skipped_with_its_reason(
    record: IncomingRecord, reason: Reason
) -> None:
    """Skipped, never scored 0, and no call is made for it."""
    summarizer = Answering(ANSWERS)
    result = pipeline(summarizer).score(record)
    assert (result.state, result.reason) == (RecordState.SKIPPED, reason)
    assert summarizer.batches == []


def test_a_document_that_cannot_be_perturbed_still_has_its_support_checked() -> None:
    """HSS never stands alone: support is computed for every record."""
    perturber = FourVersions(0, Reason.NO_ELIGIBLE_TOKENS)
    result = pipeline(Answering(ANSWERS), perturber=perturber).score(RECORD)
    assert (result.state, result.reason) == (RecordState.SKIPPED, Reason.NO_ELIGIBLE_TOKENS)
    assert result.support == SUPPORT


def test_one_missing_resummary_leaves_the_others() -> None:
    """D_3 is unknown with its reason; the mean is over the three that are known."""
    answers = ANSWERS | {"v3": Summary(text=None, reason=Reason.SUMMARIZER_TIMEOUT)}
    result = pipeline(Answering(answers)).score(RECORD)
    assert result.perturbations[3].reason is Reason.SUMMARIZER_TIMEOUT
    assert result.raw_distance == pytest.approx(0.4)


def test_most_missing_resummaries_fail_the_record() -> None:
    """One distance of four is no score; the commonest reason is the record's."""
    down = Summary(text=None, reason=Reason.SUMMARIZER_ERROR, detail="HTTP 500")
    answers = ANSWERS | {"v1": down, "v2": down, "v3": down}
    result = pipeline(Answering(answers)).score(RECORD)
    assert (result.state, result.reason) == (RecordState.FAILED, Reason.SUMMARIZER_ERROR)
    assert result.detail == "3 of 4 re-summaries are missing: HTTP 500"


def test_a_failed_call_goes_before_those_that_were_not_made_because_of_it() -> None:
    """Waiting out the pause does not count as an attempt: a service that fails on this document
    only would be asked about it for ever."""
    paused = Summary(text=None, reason=Reason.SUMMARIZER_THROTTLED, detail="paused")
    answers = ANSWERS | dict.fromkeys(["v0", "v1", "v2", "v3"], paused)
    waiting = pipeline(Answering(answers)).score(RECORD)
    assert (waiting.state, waiting.reason) == (RecordState.FAILED, Reason.SUMMARIZER_THROTTLED)
    # The unchanged document is asked about first, so that one tells.
    answers["one two three"] = Summary(
        text=None, reason=Reason.SUMMARIZER_ERROR, detail="status 500"
    )
    result = pipeline(Answering(answers)).score(RECORD)
    assert (result.state, result.reason) == (RecordState.FAILED, Reason.SUMMARIZER_ERROR)
    assert result.detail == "4 of 4 re-summaries are missing: status 500"


def test_a_tool_call_is_the_records_own_fault() -> None:
    """It is skipped, not tried again."""
    call = Summary(text=None, reason=Reason.TOOL_CALL)
    answers = ANSWERS | dict.fromkeys(["v0", "v1", "v2", "v3"], call)
    result = pipeline(Answering(answers)).score(RECORD)
    assert (result.state, result.reason) == (RecordState.SKIPPED, Reason.TOOL_CALL)


def test_the_seed_reaches_the_perturber() -> None:
    """Perturbation is deterministic in (document, seed)."""
    perturber = FourVersions()
    pipeline(Answering(ANSWERS), perturber=perturber).score(RECORD)
    assert perturber.seeds == [7]


def test_every_stage_is_timed_in_the_order_of_the_flow() -> None:
    """The stage durations of the metrics come from here."""
    result = pipeline(Answering(ANSWERS)).score(RECORD)
    assert list(result.stage_seconds) == [
        "category",
        "support",
        "perturb",
        "summarize",
        "embed",
        "distance",
        "normalize",
        "attribute",
        "check",
    ]


def test_tokens_of_all_resummaries_are_summed() -> None:
    """Two null runs and one version told their tokens: 30."""
    assert pipeline(Answering(ANSWERS)).score(RECORD).prompt_tokens == 30


def test_what_the_own_baseline_took_counts_too() -> None:
    """The cost that `doctor` states is that of every call: baseline, two null runs, one version."""
    long = Summary(text="s1", prompt_tokens=10, truncated=True)
    result = pipeline(Answering(ANSWERS | {"one two three": long}), observed=False).score(RECORD)
    assert (result.prompt_tokens, result.truncated) == (40, True)


def test_attribution_sees_the_severity_and_the_summaries() -> None:
    """Its policy may ask for the HSS, and it explains the versions' own summaries."""
    explained = Explanation(methods=(), probability=1.0, value=None, versions=(), spans=())
    seen: list[ScoredRecord] = []

    def attribute(record: IncomingRecord, result: ScoredRecord) -> Explanation:
        seen.append(result)
        return explained

    result = pipeline(Answering(ANSWERS), attribute=attribute).score(RECORD)
    assert result.explanation is explained
    assert seen[0].severity is not None
    assert seen[0].severity.hss == pytest.approx(0.5)
    assert [score.summary.text for score in seen[0].perturbations] == ["s2", "s4", "s6", "s8"]
    assert "attribute" in result.stage_seconds


def test_factual_checks_are_of_the_observed_summary() -> None:
    """y is what live traffic saw, also where the baseline is another summary."""
    result = pipeline(Answering(ANSWERS), observed=False).score(RECORD)
    assert result.checks == {"overlap": CHECKED}
