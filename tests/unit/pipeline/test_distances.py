"""How far re-summaries moved, what serving noise there is, and what stays unknown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from monitor.distances import embed, with_distances
from monitor.records import (
    FloatArray,
    Perturbation,
    Reason,
    RecordState,
    ScoredRecord,
    Strength,
    Summary,
    SummaryDistribution,
    Transport,
)
from monitor.resummaries import Resummaries
from monitor.unscorable import Unscorable

BEGUN = ScoredRecord(
    record_id="r",
    state=RecordState.SCORED,
    reason=None,
    detail="",
    category="",
    scored_at=datetime(2026, 1, 1, tzinfo=UTC),
    fingerprint="f",
)
FAILED = Summary(text=None, reason=Reason.SUMMARIZER_TIMEOUT)
WORDLESS = Summary(text="…")


class Numbers:
    """A text of a number lies at that number; one without is no distribution."""

    name = "numbers"

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        return np.array([[float(sentence)] for sentence in sentences])

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        return [
            SummaryDistribution(sentences=(text,), embeddings=self.encode([text]))
            if any(map(str.isalnum, text))
            else None
            for text in texts
        ]


def _gap(a: SummaryDistribution, b: SummaryDistribution) -> Transport:
    away = abs(float(a.embeddings[0, 0] - b.embeddings[0, 0]))
    one = np.array([[1.0]])
    return Transport(
        distance=away, plan=one, cost=one * away, source=a.sentences, target=b.sentences
    )


def _measured(
    baseline: str,
    versions: Sequence[Summary],
    nulls: Sequence[Summary] = (),
    *,
    observed: str | None = None,
) -> ScoredRecord:
    """With an observed summary of its own the baseline is the re-summarizer's."""
    made = Resummaries(
        baseline=baseline,
        observed=observed is None,
        perturbed=tuple(versions),
        nulls=tuple((summary, "run") for summary in nulls),
        asked=(),
    )
    version = Perturbation(
        strength=Strength.LOW,
        share=0.05,
        reached=True,
        substitutions=(),
        document="v",
        min_cosine=0.9,
    )
    embedded = embed(made, baseline if observed is None else observed, Numbers())
    return with_distances(BEGUN, [version] * len(versions), made, embedded, _gap)


def _says(*numbers: float) -> list[Summary]:
    return [Summary(text=str(number)) for number in numbers]


def test_means_are_over_what_is_known() -> None:
    """By hand: D .4 and .6, null runs .1 and .3; one of each failed. Excess .5 − .2."""
    result = _measured("0", [*_says(0.4, 0.6), FAILED], [*_says(0.1), FAILED, *_says(0.3)])
    assert (result.raw_distance, result.null_distance) == pytest.approx((0.5, 0.2))
    assert result.excess == pytest.approx(0.3)
    assert [run.distance for run in result.null_runs] == pytest.approx([0.1, None, 0.3])


def test_excess_is_unknown_without_null_control() -> None:
    """A null run that failed is not one of 0, which would make all noise look real."""
    result = _measured("0", _says(0.4), [FAILED])
    assert result.raw_distance == pytest.approx(0.4)
    assert (result.null_distance, result.excess) == (None, None)


def test_a_version_without_a_distance_says_why() -> None:
    """The summarizer's own reason, or that its answer holds no word."""
    result = _measured("0", [*_says(0.4), FAILED, WORDLESS])
    assert [score.reason for score in result.perturbations] == [
        None,
        Reason.SUMMARIZER_TIMEOUT,
        Reason.EMPTY_SUMMARY,
    ]


def test_the_observed_summary_lies_somewhere_only_beside_an_own_baseline() -> None:
    """W₁(y, y₀), a signal of its own; of y₀ = y it would be 0 for ever."""
    assert _measured("0", _says(0.4), observed="0.7").observed_distance == pytest.approx(0.7)
    assert _measured("0", _says(0.4)).observed_distance is None


@pytest.mark.parametrize(
    ("baseline", "versions", "told"),
    [
        ("…", _says(0.4), "the baseline summary holds no word"),
        ("0", [WORDLESS], "no re-summary holds a word"),
    ],
)
def test_without_a_word_there_is_nothing_to_measure(
    baseline: str, versions: list[Summary], told: str
) -> None:
    """Skipped with its reason, never at distance 0."""
    with pytest.raises(Unscorable) as ended:
        _measured(baseline, versions)
    assert ended.value.reason is Reason.EMPTY_SUMMARY
    assert ended.value.detail == told
