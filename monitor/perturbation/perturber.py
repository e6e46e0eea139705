"""K reworded versions of a document that mean the same: the `Perturber` port.

The definitions (eligible token, candidate, accepted sentence, strength) are those of the
README. The versions of a document are searched side by side, so that each round tags
and embeds the sentences of all of them together; a version keeps what was accepted and
only asks for what it still lacks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from spacy.language import Language

from monitor.perturbation.antonyms import load_antonyms
from monitor.perturbation.candidates import Candidate, Candidates
from monitor.perturbation.composition import Checks, Variant
from monitor.perturbation.inflection import match_case, takes_an
from monitor.perturbation.lexicon import load_lexicon
from monitor.perturbation.meaning import MeaningGuard
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.planes import Kinds
from monitor.perturbation.reading import Occurrence, Reading, read
from monitor.perturbation.script import is_readable
from monitor.perturbation.search import Option, Position, Search
from monitor.perturbation.wordlists import digest
from monitor.ports import Encoder
from monitor.records import Perturbation, PerturbationSet, Reason, Strength, Substitution

DEFAULT_STRENGTHS: Mapping[Strength, int] = {
    Strength.LOW: 3,
    Strength.MODERATE: 3,
    Strength.HIGH: 2,
}
_ROUNDS_TO_TARGET = 4
_ROUNDS_TO_BAND = 6
"""Proposals made to reach the middle of the band, and then to reach the band at all."""
_MARGIN = 0.01
"""Cosine above γ that a sum of effects must promise: about its error for four words."""
_OPTIONS = 2
"""Candidates of a word that are tried: those closest in meaning, and one of the reserve."""
_RESERVE = 1
_SHARPNESS = 2.0
"""How much the least harmful replacements are favoured: chance ∝ harm^−2 for few words."""
_REDRAWS = 4
"""Times that a version is drawn anew because it equals another one."""


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
        guard: MeaningGuard | None = None,
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
        self.guard = guard or MeaningGuard(lexicon, antonyms=load_antonyms())
        self._candidates = Candidates(
            neighbours,
            lexicon=lexicon,
            guard=self.guard,
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
        positions = self._positions(reading, checks)
        wanted = [s for s in Strength for _ in range(self._strengths.get(s, 0))]
        found = self._versions(document, seed, wanted, reading.words, positions, checks)
        perturbations = tuple(found[number] for number in sorted(found))
        return PerturbationSet(
            perturbations=perturbations,
            reason=None if perturbations else Reason.NO_ACCEPTED_PERTURBATION,
            words=reading.words,
            eligible=len(reading.eligible),
        )

    def _versions(
        self,
        document: str,
        seed: int,
        wanted: Sequence[Strength],
        words: int,
        positions: Sequence[Position],
        checks: Checks,
    ) -> dict[int, Perturbation]:
        """The versions by number; one that equals another is drawn anew, and may fail to differ."""
        found: dict[int, Perturbation] = {}
        reachable: dict[int, int] = {}
        for draw in range(_REDRAWS + 1 if positions else 0):
            seen = {made.document for made in found.values()} | {document}
            lacking = [number for number in range(len(wanted)) if number not in found]
            searches = []
            for number in lacking:
                least, target = _goal(words, wanted[number])
                # Where everything that can be replaced was replaced, the same again would
                # come out: other words are favoured, and in the end fewer are taken.
                most = max(1, reachable.get(number, target) - max(0, draw - 1))
                searches.append(
                    Search(
                        positions=positions,
                        originals={p.sentence: checks.original(p.sentence) for p in positions},
                        target=min(target, most),
                        least=least,
                        gamma=self._gamma,
                        rng=_rng(document, seed, number, draw),
                        sharpness=_SHARPNESS / (1 + draw),
                    )
                )
            _run(searches, checks)
            for number, search in zip(lacking, searches, strict=True):
                made = _perturbation(document, words, wanted[number], search)
                reachable.setdefault(number, search.count)
                if made.document not in seen:
                    seen.add(made.document)
                    found[number] = made
            if len(found) == len(wanted):
                break
        return found

    def _positions(self, reading: Reading, checks: Checks) -> list[Position]:
        """Eligible tokens with the options that pass alone in their sentence."""
        candidates = self._candidates.of(o.word for o in reading.eligible)
        tried: list[tuple[Occurrence, list[tuple[str, Candidate]]]] = []
        for occurrence in reading.eligible:
            if occurrence.titled:
                continue
            fitting = [
                (match_case(occurrence.text, candidate.word), candidate)
                for candidate in candidates[occurrence.word]
                if not occurrence.article
                or takes_an(candidate.word) == (occurrence.article == "an")
            ]
            whole = [item for item in fitting if len(self._language.tokenizer(item[0])) == 1]
            ordinary = [item for item in whole if not item[1].reserve][:_OPTIONS]
            reserve = [item for item in whole if item[1].reserve][:_RESERVE]
            tried.append((occurrence, ordinary + reserve))
        verdicts = checks.judge(
            _alone(occurrence, word) for occurrence, options in tried for word, _ in options
        )
        positions = []
        for occurrence, options in tried:
            passed = []
            for word, candidate in options:
                verdict = verdicts[_alone(occurrence, word)]
                if verdict.cosine is not None and verdict.shift is not None:
                    passed.append(
                        Option(
                            word=word,
                            candidate=candidate,
                            cosine=verdict.cosine,
                            shift=verdict.shift,
                        )
                    )
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
                        options=tuple(o for o in passed if o.cosine >= self._gamma),
                    )
                )
        return positions


def _alone(occurrence: Occurrence, word: str) -> Variant:
    return occurrence.sentence, ((occurrence.offset, word),)


def _run(searches: Sequence[Search], checks: Checks) -> None:
    """Rounds of proposing and judging, for all versions at once.

    First each version draws its words at random; those that lie below their band when
    that is done are filled with as many words as their sentences can bear.
    """
    for _ in range(_ROUNDS_TO_TARGET):
        if not _round(searches, checks, lambda search: search.propose(margin=_MARGIN)):
            break
    for _ in range(_ROUNDS_TO_BAND):
        below = [search for search in searches if search.count < search.least]
        if not _round(below, checks, Search.pack):
            break


def _round(
    searches: Sequence[Search], checks: Checks, propose: Callable[[Search], list[Variant]]
) -> bool:
    """One round; False where nothing was proposed."""
    proposals = [variant for search in searches for variant in propose(search)]
    verdicts = checks.judge(proposals)
    for search in searches:
        search.learn(verdicts)
    return bool(proposals)


def _goal(words: int, strength: Strength) -> tuple[int, int]:
    """(Least, wanted) replacements: the count in the band that is nearest to its middle.

    In a text so short that no count lies in the band it is the nearest one, at least 1.
    """
    low, high = strength.band
    middle = (low + high) / 2 * words
    counts = range(max(1, int(low * words)), int(high * words) + 2)
    inside = [count for count in counts if strength.contains(count / words)]
    if not inside:
        wanted = max(1, round(middle))
        return wanted, wanted
    return inside[0], min(inside, key=lambda count: (abs(count - middle), count))


def _perturbation(document: str, words: int, strength: Strength, search: Search) -> Perturbation:
    pieces, end, substitutions = [], 0, []
    for pick in search.picks():
        position = pick.position
        pieces += [document[end : position.start], pick.option.word]
        end = position.start + len(position.text)
        substitutions.append(
            Substitution(
                index=position.index,
                original=position.text,
                replacement=pick.option.word,
                similarity=pick.option.candidate.similarity,
                start=position.start,
            )
        )
    share = len(substitutions) / words
    return Perturbation(
        strength=strength,
        share=share,
        reached=strength.contains(share),
        substitutions=tuple(substitutions),
        document="".join([*pieces, document[end:]]),
        min_cosine=search.min_cosine,
    )


def _rng(document: str, seed: int, number: int, draw: int) -> np.random.Generator:
    """Chance that depends on the document, the seed and the version, and on nothing else."""
    digest = hashlib.blake2b(document.encode("utf-8", "surrogatepass"), digest_size=16)
    words = np.frombuffer(digest.digest(), dtype=np.uint32).tolist()
    return np.random.default_rng([*words, seed, number, draw])


def _function_words(language: Language) -> Callable[[str], bool]:
    def is_function_word(word: str) -> bool:
        lexeme = language.vocab[word]
        return bool(lexeme.is_stop or lexeme.like_num)

    return is_function_word


def _none(reason: Reason, *, words: int = 0) -> PerturbationSet:
    return PerturbationSet(perturbations=(), reason=reason, words=words, eligible=0)
