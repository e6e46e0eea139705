"""K reworded versions of a document that mean the same: the `Perturber` port.

The definitions (eligible token, candidate, accepted sentence, strength) are those of the
README. The versions of a document are searched side by side, so that each round tags
and embeds the sentences of all of them together; a version keeps what was accepted and
only asks for what it still lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spacy.language import Language

from monitor.perturbation.antonyms import load_antonyms
from monitor.perturbation.candidates import Candidates
from monitor.perturbation.composition import Checks
from monitor.perturbation.lexicon import load_lexicon
from monitor.perturbation.meaning import MeaningGuard
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.planes import Kinds
from monitor.perturbation.positions import positions_of
from monitor.perturbation.reading import read
from monitor.perturbation.script import is_readable
from monitor.perturbation.versions import versions_of
from monitor.perturbation.wordlists import digest
from monitor.ports import Encoder
from monitor.records import PerturbationSet, Reason, Strength

DEFAULT_STRENGTHS: Mapping[Strength, int] = {
    Strength.LOW: 3,
    Strength.MODERATE: 3,
    Strength.HIGH: 2,
}


class SubstitutionPerturber:
    """Replaces words by near ones that keep the meaning; deterministic in (document, seed)."""

    name: str
    """Goes into the fingerprint: the vectors, the word lists and the limits."""

    def __init__(
        self,
        language: Language,
        neighbours: Neighbours,
        encoder: Encoder,
        *,
        strengths: Mapping[Strength, int] = DEFAULT_STRENGTHS,
        gamma: float = 0.85,
        floor: float = 0.25,
    ) -> None:
        """`floor` is the least cosine of the sentence embeddings of two single words: below
        it a neighbour shares topics, not meaning. `gamma` is γ."""
        self._language = language
        self._neighbours = neighbours
        self._encoder = encoder
        self._strengths = dict(strengths)
        self._gamma = gamma
        self.name = f"substitution:{neighbours.name}:{digest()}:{gamma:g}:{floor:g}"
        lexicon = load_lexicon(language)
        self._candidates = Candidates(
            neighbours,
            lexicon=lexicon,
            guard=MeaningGuard(lexicon, antonyms=load_antonyms()),
            kinds=Kinds(neighbours),
            encoder=encoder,
            is_function_word=_function_words(language),
            floor=floor,
        )

    def perturb(self, document: str, *, seed: int) -> PerturbationSet:
        """At most K versions, weakest strength first, in the order in which they were drawn.

        Cost is linear in the document's length. Never raises for a document: a reason
        stands where there is no version.
        """
        if not document.strip():
            return _none(Reason.EMPTY_DOCUMENT)
        if not is_readable(document, self._language.lang):
            return _none(Reason.UNSUPPORTED_LANGUAGE)
        reading = read(document, language=self._language, vocabulary=self._neighbours.vocabulary)
        if not reading.eligible:
            return _none(Reason.NO_ELIGIBLE_TOKENS, words=reading.words)
        checks = Checks(reading.sentences, language=self._language, encoder=self._encoder)
        positions = positions_of(
            reading,
            candidates=self._candidates,
            checks=checks,
            language=self._language,
            gamma=self._gamma,
        )
        perturbations = versions_of(
            document,
            [strength for strength in Strength for _ in range(self._strengths.get(strength, 0))],
            words=reading.words,
            positions=positions,
            checks=checks,
            gamma=self._gamma,
            seed=seed,
        )
        return PerturbationSet(
            perturbations=perturbations,
            reason=None if perturbations else Reason.NO_ACCEPTED_PERTURBATION,
            words=reading.words,
            eligible=len(reading.eligible),
            replaceable=sum(bool(position.options) for position in positions),
        )


def _function_words(language: Language) -> Callable[[str], bool]:
    def is_function_word(word: str) -> bool:
        lexeme = language.vocab[word]
        return bool(lexeme.is_stop or lexeme.like_num)

    return is_function_word


def _none(reason: Reason, *, words: int = 0) -> PerturbationSet:
    return PerturbationSet(perturbations=(), reason=reason, words=words, eligible=0, replaceable=0)
