"""What the summarizer is asked about one record, and when too little came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.records import (
    IncomingRecord,
    Perturbation,
    Reason,
    RecordState,
    ScoredRecord,
    Strength,
    Summary,
    SummaryTask,
)
from monitor.resummaries import Resummaries, Resummarizer, with_resummaries
from monitor.unscorable import Unscorable

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = IncomingRecord(
    id="r", document="d", summary="y", service="svc", model="m", received_at=NOW
)
MISSING = Summary(text=None, reason=Reason.SUMMARIZER_TIMEOUT, detail="late")


class Scripted:
    """Answers with its summaries in turn, and remembers the documents."""

    name = "scripted"
    replays = True
    deterministic = False

    def __init__(self, *summaries: Summary) -> None:
        self.summaries = summaries
        self.documents: list[str] = []

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        self.documents += [task.document for task in tasks]
        return list(self.summaries[: len(tasks)])


def versions(count: int) -> list[Perturbation]:
    return [
        Perturbation(
            strength=Strength.LOW,
            share=0.05,
            reached=True,
            substitutions=(),
            document=f"v{number}",
            min_cosine=0.9,
        )
        for number in range(count)
    ]


def resummarize(*summaries: Summary, observed: bool = True, null_runs: int = 0) -> Resummaries:
    """The re-summaries of as many versions as there are summaries left for them."""
    resummarizer = Resummarizer(
        Scripted(*summaries), observed_baseline=observed, null_runs=null_runs
    )
    unchanged = null_runs + (not observed)
    return resummarizer.resummarize(RECORD, versions(len(summaries) - unchanged))


def test_one_batch_asks_for_the_baseline_the_null_runs_and_the_versions() -> None:
    """A batch costs the endpoint least; answers are told apart by their places."""
    summarizer = Scripted(*(Summary(text=word) for word in ("own", "null", "a", "b")))
    made = Resummarizer(summarizer, observed_baseline=False, null_runs=1).resummarize(
        RECORD, versions(2)
    )
    assert summarizer.documents == ["d", "d", "v0", "v1"]
    assert (made.baseline, made.observed) == ("own", False)
    assert [(summary.text, source) for summary, source in made.nulls] == [("null", "run")]
    assert [summary.text for summary in made.perturbed] == ["a", "b"]


def test_spare_choices_are_no_null_runs_of_another_summarizer() -> None:
    """They are answers of the live service: what they show is not the noise of this one."""
    summarizer = Scripted(*(Summary(text=word) for word in ("own", "null", "a")))
    record = replace(RECORD, alternatives=("other",))
    made = Resummarizer(summarizer, observed_baseline=False, null_runs=1).resummarize(
        record, versions(1)
    )
    assert [(summary.text, source) for summary, source in made.nulls] == [("null", "run")]


def test_exactly_half_of_the_versions_is_enough() -> None:
    """At least half must succeed: one of two does."""
    made = resummarize(Summary(text="a"), MISSING)
    assert [summary.text for summary in made.perturbed] == ["a", None]


def test_less_than_half_ends_the_record_with_the_commonest_reason() -> None:
    """Two timeouts outweigh one error, whichever came first."""
    down = Summary(text=None, reason=Reason.SUMMARIZER_ERROR, detail="HTTP 500")
    with pytest.raises(Unscorable) as ended:
        resummarize(down, MISSING, MISSING, Summary(text="a"))
    assert ended.value.reason is Reason.SUMMARIZER_TIMEOUT
    assert ended.value.detail == "3 of 4 re-summaries are missing: late"


def test_a_missing_summary_without_a_reason_is_an_error_of_the_summarizer() -> None:
    """A summarizer that breaks its contract must not break the scorer."""
    with pytest.raises(Unscorable) as ended:
        resummarize(Summary(text=None, detail="odd"))
    assert ended.value.reason is Reason.SUMMARIZER_ERROR
    assert ended.value.detail == "1 of 1 re-summaries are missing: odd"


def test_without_an_own_baseline_there_is_nothing_to_measure_from() -> None:
    """However many versions were summarized: y₀ is missing."""
    with pytest.raises(Unscorable) as ended:
        resummarize(MISSING, Summary(text="a"), Summary(text="b"), observed=False)
    assert ended.value.reason is Reason.SUMMARIZER_TIMEOUT
    assert ended.value.detail == "no baseline summary: late"


def test_a_baseline_that_waits_because_of_a_failed_call_ends_as_that_one_did() -> None:
    """Calls run beside each other: a version may fail, and pause the others, before y₀ is asked
    for. Waiting does not count as an attempt, so the record would come back for ever."""
    paused = Summary(text=None, reason=Reason.SUMMARIZER_THROTTLED, detail="paused")
    down = Summary(text=None, reason=Reason.SUMMARIZER_ERROR, detail="status 500")
    with pytest.raises(Unscorable) as ended:
        resummarize(paused, down, paused, observed=False)
    assert ended.value.reason is Reason.SUMMARIZER_ERROR
    assert ended.value.detail == "no baseline summary: status 500"
    with pytest.raises(Unscorable) as ended:
        resummarize(paused, paused, observed=False)
    assert ended.value.reason is Reason.SUMMARIZER_THROTTLED


def test_tokens_that_nobody_told_are_unknown() -> None:
    """A sum of nothing would be a silent zero in the bill."""
    begun = ScoredRecord(
        record_id="r",
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category="",
        scored_at=NOW,
        fingerprint="f",
    )
    told = resummarize(Summary(text="a", prompt_tokens=7), Summary(text="b"))
    result = with_resummaries(begun, told)
    assert (result.prompt_tokens, result.completion_tokens) == (7, None)
