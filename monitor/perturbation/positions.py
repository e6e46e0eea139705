"""Where a document may be changed: its eligible tokens, with the words that fit there alone."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.language import Language

from monitor.perturbation.candidates import Candidate, Candidates
from monitor.perturbation.composition import Checks, Variant, Verdict
from monitor.perturbation.inflection import match_case, takes_an
from monitor.perturbation.reading import Occurrence, Reading
from monitor.perturbation.search import Option, Position

_OPTIONS = 2
"""Candidates of a word that are tried: those closest in meaning, and one of the reserve."""
_RESERVE = 1

Written = tuple[str, Candidate]
"""A candidate, as it would be written in the place of a token."""


def positions_of(
    reading: Reading,
    *,
    candidates: Candidates,
    checks: Checks,
    language: Language,
    gamma: float,
) -> list[Position]:
    """Eligible tokens with the options that pass alone in their sentence."""
    found = candidates.of(o.word for o in reading.eligible)
    tried = [
        (occurrence, _tried(occurrence, found[occurrence.word], language))
        for occurrence in reading.eligible
        if not occurrence.titled
    ]
    verdicts = checks.judge(
        _alone(occurrence, word) for occurrence, options in tried for word, _ in options
    )
    positions = []
    for occurrence, written in tried:
        passed = [
            option
            for word, candidate in written
            if (option := _option(word, candidate, verdicts[_alone(occurrence, word)])) is not None
        ]
        if passed:
            passed.sort(key=lambda option: (-option.cosine, option.word))
            positions.append(
                Position(
                    index=occurrence.index,
                    sentence=occurrence.sentence,
                    offset=occurrence.offset,
                    chunk=occurrence.chunk,
                    text=occurrence.text,
                    start=occurrence.start,
                    options=tuple(option for option in passed if option.cosine >= gamma),
                )
            )
    return positions


def _tried(
    occurrence: Occurrence, candidates: Sequence[Candidate], language: Language
) -> list[Written]:
    """The few candidates that are worth a check: one token, and right after `a` or `an`."""
    fitting = [
        (match_case(occurrence.text, candidate.word), candidate)
        for candidate in candidates
        if not occurrence.article or takes_an(candidate.word) == (occurrence.article == "an")
    ]
    whole = [item for item in fitting if len(language.tokenizer(item[0])) == 1]
    ordinary = [item for item in whole if not item[1].reserve][:_OPTIONS]
    reserve = [item for item in whole if item[1].reserve][:_RESERVE]
    return ordinary + reserve


def _option(word: str, candidate: Candidate, verdict: Verdict) -> Option | None:
    if verdict.cosine is None or verdict.shift is None:
        return None
    return Option(word=word, candidate=candidate, cosine=verdict.cosine, shift=verdict.shift)


def _alone(occurrence: Occurrence, word: str) -> Variant:
    return occurrence.sentence, ((occurrence.offset, word),)
