"""Choosing which words of a document to replace, and by what, for one version.

The words are gone through in a random order that favours replacements close in meaning.
Each is expected to cost its sentence some cosine (`Position.cost`), and is taken while
the sentence's allowance lasts. What the checks then find out corrects the expectation of
that sentence, and the next round proposes again: fewer words where a sentence went too
far, other words or other sentences instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.perturbation.candidates import Candidate
from monitor.perturbation.composition import Variant, Verdict

_SPREAD = 0.35
"""How far chance may reorder: the share of its cost by which a replacement may look better."""
_MARGIN = 0.9
"""Of a sentence's allowance of cosine, what a first proposal may expect to use."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """An eligible token with its candidates."""

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
    options: tuple[tuple[str, Candidate], ...]
    """(As it would be written, candidate), closest meaning first."""
    weight: float
    """Cosine that the sentence is expected to lose when the word goes far: 1 / its words."""

    def cost(self, candidate: Candidate) -> float:
        """Cosine that the sentence is expected to lose by a replacement."""
        return (1.0 - candidate.closeness) * self.weight


@dataclass(kw_only=True, slots=True)
class _Pick:
    position: Position
    word: str
    candidate: Candidate
    cost: float


@dataclass(kw_only=True, slots=True)
class Search:
    """The state of one version while it grows; every accepted state is a valid version."""

    positions: Sequence[Position]
    target: int
    """Replacements to make."""
    least: int
    """Replacements below which the band is not reached."""
    gamma: float
    rng: np.random.Generator
    accepted: dict[int, dict[int, _Pick]] = field(default_factory=dict)
    """Sentence → offset → what replaces the token there."""
    cosines: dict[int, float] = field(default_factory=dict)
    _order: list[tuple[float, int, int]] = field(default_factory=list)
    _scale: dict[int, float] = field(default_factory=lambda: defaultdict(lambda: 1.0))
    _refused: set[tuple[int, str]] = field(default_factory=set)
    _proposed: dict[int, dict[int, _Pick]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # One draw for each option, taken in a fixed order: nothing else consumes chance.
        for place, position in enumerate(self.positions):
            noise = self.rng.random(len(position.options))
            for number, (_, candidate) in enumerate(position.options):
                jitter = 1.0 - _SPREAD * float(noise[number])
                self._order.append((position.cost(candidate) * jitter, place, number))
        self._order.sort()

    @property
    def count(self) -> int:
        """Replacements accepted so far."""
        return sum(map(len, self.accepted.values()))

    def propose(self) -> list[Variant]:
        """Variants to be judged next; empty where the target is reached or nothing is left."""
        self._proposed = {}
        missing = self.target - self.count
        if missing <= 0:
            return []
        taken = {pick.position.chunk for picks in self.accepted.values() for pick in picks.values()}
        spent = {
            number: 1.0 - cosine
            for number, cosine in self.cosines.items()
            if number in self.accepted
        }
        for _, place, number in self._order:
            if missing <= 0:
                break
            position = self.positions[place]
            word, candidate = position.options[number]
            if position.chunk in taken or (place, word) in self._refused:
                continue
            cost = position.cost(candidate)
            expected = spent.get(position.sentence, 0.0) + cost * self._scale[position.sentence]
            if expected > (1.0 - self.gamma) * _MARGIN:
                continue
            spent[position.sentence] = expected
            taken.add(position.chunk)
            self._proposed.setdefault(
                position.sentence, dict(self.accepted.get(position.sentence, {}))
            )[position.offset] = _Pick(position=position, word=word, candidate=candidate, cost=cost)
            missing -= 1
        return [self._variant(number) for number in self._proposed]

    def learn(self, verdicts: Mapping[Variant, Verdict]) -> None:
        """Take over what was accepted, and correct expectations by what was not."""
        places = {position.index: place for place, position in enumerate(self.positions)}
        for number, picks in self._proposed.items():
            verdict = verdicts[self._variant(number)]
            if verdict.cosine is None:
                for offset in verdict.wrong_tags:
                    pick = picks[offset]
                    self._refused.add((places[pick.position.index], pick.word))
                continue
            cost = sum(pick.cost for pick in picks.values())
            self._scale[number] = max((1.0 - verdict.cosine) / max(cost, 1e-6), 0.1)
            if verdict.cosine >= self.gamma:
                self.accepted[number] = picks
                self.cosines[number] = verdict.cosine
                continue
            # The replacement that was expected to cost most was one too many here.
            fresh = [o for o in picks if o not in self.accepted.get(number, {})]
            worst = max(fresh, key=lambda offset: (picks[offset].cost, offset))
            self._refused.add((places[picks[worst].position.index], picks[worst].word))
        self._proposed = {}

    def _variant(self, number: int) -> Variant:
        picks = self._proposed[number]
        return number, tuple((offset, picks[offset].word) for offset in sorted(picks))

    def picks(self) -> list[_Pick]:
        """The accepted replacements in document order."""
        return sorted(
            (pick for picks in self.accepted.values() for pick in picks.values()),
            key=lambda pick: pick.position.index,
        )
