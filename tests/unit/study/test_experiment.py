"""The figures about perturbations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from spacy.language import Language

from monitor.embedding.embedded import LANGUAGE
from monitor.embedding.language import load_language
from monitor.records import (
    FloatArray,
    Perturbation,
    PerturbationSet,
    Reason,
    Strength,
    SummaryDistribution,
)
from monitor.study.experiment import format_perturbation_figures, perturbation_figures

WORDS = {"company", "profits", "increase"}
DOCUMENT = "The company expected profits to increase. Nothing else happened in Paris."


class Bag:
    """Embeds a sentence by whether it says `increase`: a known cosine of 0.8 otherwise."""

    name = "bag"

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        rows = [[1.0, 0.0] if "increase" in s else [0.8, 0.6] for s in sentences]
        return np.array(rows)

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        raise NotImplementedError


class Scripted:
    """Answers with one prepared version, in the band or not, or with none."""

    def __init__(self, version: str | None, *, reached: bool = True) -> None:
        self._version, self._reached = version, reached

    def perturb(self, document: str, *, seed: int) -> PerturbationSet:
        if self._version is None:
            return PerturbationSet(
                perturbations=(), reason=Reason.NO_ELIGIBLE_TOKENS, words=11, eligible=0
            )
        version = Perturbation(
            strength=Strength.LOW,
            share=0.05,
            reached=self._reached,
            substitutions=(),
            document=self._version,
            min_cosine=1.0,
        )
        return PerturbationSet(
            perturbations=(version,), reason=None, words=11, eligible=3, replaceable=2
        )


@pytest.fixture(scope="session")
def language() -> Language:
    if not LANGUAGE.installed:
        pytest.skip(f"the embedded spaCy model {LANGUAGE.distribution} is not installed")
    return load_language()


def test_a_flipped_word_is_found_without_the_help_of_the_perturber(language: Language) -> None:
    """`decrease` for `increase`: one listed opposite, and the cosine computed anew."""
    (figures,) = perturbation_figures(
        [DOCUMENT],
        {Strength.LOW: Scripted(DOCUMENT.replace("increase", "decrease"))},
        language=language,
        vocabulary=WORDS,
        encoder=Bag(),
    )
    assert (figures.opposites, figures.protected_changed, figures.misaligned) == (1, 0, 0)
    assert figures.min_cosine == pytest.approx(0.8)
    assert figures.share_reached == 1.0


def test_a_changed_name_and_a_lost_token_are_found(language: Language) -> None:
    """A protected token may never change, and tokens must align."""
    changed, lost = perturbation_figures(
        [DOCUMENT],
        {
            Strength.LOW: Scripted(DOCUMENT.replace("Paris", "Rome")),
            Strength.HIGH: Scripted(DOCUMENT.replace("in Paris", "here")),
        },
        language=language,
        vocabulary=WORDS,
        encoder=Bag(),
    )
    assert (changed.protected_changed, changed.misaligned) == (1, 0)
    assert (lost.protected_changed, lost.misaligned) == (0, 1)


def test_documents_outside_the_band_are_counted_by_reason(language: Language) -> None:
    """Where there is no version its reason, where it is too weak that reason."""
    none, weak = perturbation_figures(
        [DOCUMENT, DOCUMENT],
        {
            Strength.LOW: Scripted(None),
            Strength.MODERATE: Scripted(DOCUMENT.replace("company", "firm"), reached=False),
        },
        language=language,
        vocabulary=WORDS,
        encoder=Bag(),
        distance=lambda document, versions: [0.25 for _ in versions],
    )
    assert none.reasons == {Reason.NO_ELIGIBLE_TOKENS: 2}
    assert none.mean_share is None and none.mean_distance is None
    assert weak.reasons == {Reason.STRENGTH_NOT_REACHED: 2}
    assert weak.mean_distance == 0.25
    table = format_perturbation_figures([none, weak])
    assert "low: 2 outside the band (no_eligible_tokens)" in table
    assert "low: of the words 0.0 % are eligible, - have a replacement" in table
    assert "moderate: of the words 27.3 % are eligible, 18.2 % have a replacement" in table
    assert "0.2500" in table
