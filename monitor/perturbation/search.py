"""Choosing which words of a document to replace, and by what, for one version.

Every replacement was tried alone in its sentence first, so its effect on the sentence's
embedding is known as a vector. Effects nearly add up, and may cancel: a set of
replacements is proposed where the sum of its effects leaves the sentence close enough,
and is then checked as a whole. What the check finds replaces the sum, and the next round
proposes again: fewer words where a sentence went too far, words of other sentences
instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.perturbation.candidates import Candidate
from monitor.perturbation.composition import Variant, Verdict
from monitor.records import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Option:
    """A replacement that passed the checks alone."""

    word: str
    """As it is written in the document."""
    candidate: Candidate
    cosine: float
    """Of the sentence with its original, when this word alone is replaced."""
    shift: FloatArray
    """(d,) what it does to the embedding of its sentence."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Position:
    """An eligible token with its options, the least harmful first."""

    index: int
    """Among the document's tokens, white space not counted."""
    sentence: int
    offset: int
    """Among the tokens of the sentence."""
    chunk: int
    """Tokens between two white spaces share a chunk; one of them is replaced at most,
    because the tokenizer decides chunk by chunk."""
    text: str
    start: int
    options: tuple[Option, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pick:
    """A position with the option that was taken."""

    position: Position
    option: Option


@dataclass(kw_only=True, slots=True, eq=False)
class _State:
    """The replacements of one sentence, and what they do to its embedding together."""

    picks: dict[int, Pick]
    shift: FloatArray
    cosine: float


@dataclass(kw_only=True, slots=True, eq=False)
class Search:
    """One version while it grows; what is accepted is valid at any time."""

    positions: Sequence[Position]
    originals: Mapping[int, FloatArray]
    """Sentence → its embedding."""
    target: int
    """Replacements to make."""
    least: int
    """Replacements below which the band is not reached."""
    gamma: float
    rng: np.random.Generator
    sharpness: float = 2.0
    """β where few of the words are needed; less gives more varied and worse versions."""
    _order: list[Pick] = field(default_factory=list)
    _chance: dict[tuple[int, str], float] = field(default_factory=dict)
    _accepted: dict[int, _State] = field(default_factory=dict)
    _reduced: dict[int, _State] = field(default_factory=dict)
    """Sentences that went too far, without what was too much: to be checked next."""
    _proposed: dict[int, _State] = field(default_factory=dict)
    _refused: set[tuple[int, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Draw the order: chance ∝ harm^−β, the sharper the more of the words are needed.

        With few words to replace any may come first; with nearly all, the least harmful
        must. This is weighted sampling without replacement (Efraimidis & Spirakis 2006).
        """
        needed = min(self.target / max(len(self.positions), 1), 0.9)
        beta = self.sharpness / (1.0 - needed)
        keyed = []
        for position in self.positions:
            draws = self.rng.exponential(size=len(position.options))
            for option, draw in zip(position.options, draws.tolist(), strict=True):
                pick = Pick(position=position, option=option)
                self._chance[self._key(pick)] = 1.0 + 0.2 * min(draw, 1.0)
                if option.candidate.reserve:
                    continue
                key = draw ** (1.0 / beta) * _harm(option, needed)
                keyed.append((key, position.index, option.word, pick))
        keyed.sort(key=lambda item: item[:3])
        self._order = [pick for *_, pick in keyed]

    @property
    def count(self) -> int:
        """Replacements accepted so far."""
        return sum(len(state.picks) for state in self._accepted.values())

    @property
    def min_cosine(self) -> float:
        """Of the changed sentences with their originals; 1 where none is changed."""
        return min((state.cosine for state in self._accepted.values()), default=1.0)

    def picks(self) -> list[Pick]:
        """The accepted replacements in document order."""
        found = [pick for state in self._accepted.values() for pick in state.picks.values()]
        return sorted(found, key=lambda pick: pick.position.index)

    def propose(self, *, margin: float) -> list[Variant]:
        """Variants to be judged next; empty where the target is reached or nothing is left.

        `margin` is the cosine above γ that a sum of effects must promise.
        """
        working = {**self._accepted, **self._reduced}
        changed = set(self._reduced)
        missing = self.target - sum(len(state.picks) for state in working.values())
        taken = {p.position.chunk for state in working.values() for p in state.picks.values()}
        for pick in self._order:
            if missing <= 0:
                break
            number = pick.position.sentence
            if pick.position.chunk in taken or self._key(pick) in self._refused:
                continue
            grown = self._grow(number, working.get(number), pick)
            if grown.cosine >= self.gamma + margin:
                working[number] = grown
                changed.add(number)
                taken.add(pick.position.chunk)
                missing -= 1
        self._proposed = {number: working[number] for number in sorted(changed)}
        self._reduced = {}
        return [_variant(number, state) for number, state in self._proposed.items()]

    def pack(self) -> list[Variant]:
        """Variants that hold as many words as their sentences can bear, the reserve included.

        Each sentence is filled anew, always by the word that leaves it closest to the
        original beside those already in. To be judged next; empty where nothing is gained.
        """
        working = dict(self._accepted)
        count = self.count
        self._proposed = {}
        for number in sorted({position.sentence for position in self.positions}):
            kept = len(working[number].picks) if number in working else 0
            packed = self._reduced.get(number) or self._packed(number)
            if packed is None or len(packed.picks) <= kept or count >= self.target:
                continue
            count += len(packed.picks) - kept
            self._proposed[number] = packed
        self._reduced = {}
        return [_variant(number, state) for number, state in self._proposed.items()]

    def _packed(self, number: int) -> _State | None:
        state: _State | None = None
        left = [
            pick
            for position in self.positions
            if position.sentence == number
            for pick in (Pick(position=position, option=o) for o in position.options)
            if self._key(pick) not in self._refused
        ]
        while left:
            grown = [(self._grow(number, state, pick), pick) for pick in left]
            best, taken = min(
                grown, key=lambda g: (1.0 - g[0].cosine) * self._chance[self._key(g[1])]
            )
            if best.cosine < self.gamma:
                left.remove(taken)
                continue
            state = best
            left = [pick for pick in left if pick.position.chunk != taken.position.chunk]
        return state

    def learn(self, verdicts: Mapping[Variant, Verdict]) -> None:
        """Take over what passed; where a sentence did not, take back what was too much."""
        for number, state in self._proposed.items():
            verdict = verdicts[_variant(number, state)]
            if verdict.cosine is None or verdict.shift is None:
                self._take_back(number, state, verdict.wrong_tags)
            elif verdict.cosine >= self.gamma:
                self._accepted[number] = _State(
                    picks=state.picks, shift=verdict.shift, cosine=verdict.cosine
                )
            else:
                self._shrink(number, _State(picks=state.picks, shift=verdict.shift, cosine=0.0))
        self._proposed = {}

    def _grow(self, number: int, state: _State | None, pick: Pick) -> _State:
        if state is None:
            shift = pick.option.shift
            return _State(
                picks={pick.position.offset: pick}, shift=shift, cosine=pick.option.cosine
            )
        shift = state.shift + pick.option.shift
        picks = {**state.picks, pick.position.offset: pick}
        return _State(picks=picks, shift=shift, cosine=self._cosine(number, shift))

    def _take_back(self, number: int, state: _State, offsets: Sequence[int]) -> None:
        """Without the words that are tagged otherwise beside the others than alone."""
        for offset in offsets:
            pick = state.picks.pop(offset)
            self._refused.add(self._key(pick))
            state.shift = state.shift - pick.option.shift
        self._retry(number, state)

    def _shrink(self, number: int, state: _State) -> None:
        """Without the words whose loss brings the sentence back, the worst first."""
        kept = self._accepted[number].picks if number in self._accepted else {}
        while state.cosine < self.gamma:
            fresh = [offset for offset in state.picks if offset not in kept]
            if not fresh:
                return
            gains = {
                offset: self._cosine(number, state.shift - state.picks[offset].option.shift)
                for offset in fresh
            }
            worst = max(fresh, key=lambda offset: (gains[offset], offset))
            pick = state.picks.pop(worst)
            self._refused.add(self._key(pick))
            state.shift = state.shift - pick.option.shift
            state.cosine = gains[worst]
        self._retry(number, state)

    def _retry(self, number: int, state: _State) -> None:
        kept = len(self._accepted[number].picks) if number in self._accepted else 0
        if len(state.picks) > kept:
            self._reduced[number] = state

    def _cosine(self, number: int, shift: FloatArray) -> float:
        """Cosine of e and e + shift, for unit e."""
        original = self.originals[number]
        moved = original + shift
        return float((original * moved).sum() / np.sqrt((moved * moved).sum()))

    @staticmethod
    def _key(pick: Pick) -> tuple[int, str]:
        return pick.position.index, pick.option.word


def _harm(option: Option, needed: float) -> float:
    """How little a replacement is wanted: far in meaning by itself, or in its sentence.

    The more of the words are needed, the more counts what their sentences can bear.
    """
    alone = 0.0 if option.candidate.vouched else (1.0 - option.candidate.closeness) ** 2
    return max((1.0 - needed) * alone + 2.0 * (1.0 - option.cosine), 1e-4)


def _variant(number: int, state: _State) -> Variant:
    return number, tuple((o, state.picks[o].option.word) for o in sorted(state.picks))
