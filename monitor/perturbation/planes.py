"""What a word vector says about the kind of thing a word stands for.

Words of one kind lie together: a plane that is fitted between listed examples of two
kinds tells other words of them apart (least squares on unit vectors with equal weight
for both kinds, closed form, 20 ms). It is fitted to whatever vectors are in use, so it
needs no model of its own. Two planes are used:

- *names*: most vectors are of lower-cased text, so *bush* and *arafat* carry no sign
  that they name somebody;
- *people*: *murder* is near *victim* and *attack* near *terrorist*, but a deed never
  stands for a person.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.wordlists import names, opposites, siblings

_RIDGE = 1.0
_LEAST_EXAMPLES = 50
_COMMON_AS_NAMES = 0.02
_WRONG_SIDE = 0.10


class Plane:
    """Score of a word = w·v/|v| + b, positive on the side of the `inside` examples."""

    def __init__(
        self, neighbours: Neighbours, *, inside: Collection[str], outside: Collection[str]
    ) -> None:
        self._neighbours = neighbours
        vocabulary = neighbours.vocabulary
        first = _known(set(inside) - set(outside), vocabulary)
        second = _known(set(outside) - set(inside), vocabulary)
        self._weights: NDArray[np.float64] | None = None
        self.inside_scores = np.zeros(0)
        """Of the inside examples, ascending; empty where there were too few examples."""
        self.outside_scores = np.zeros(0)
        if min(len(first), len(second)) < _LEAST_EXAMPLES:
            return
        rows = self._features([*first, *second])
        sizes = np.repeat([len(first), len(second)], [len(first), len(second)])
        weight = len(rows) / sizes
        target = np.repeat([1.0, -1.0], [len(first), len(second)])
        gram = rows.T @ (rows * weight[:, None]) + _RIDGE * np.eye(rows.shape[1])
        solved = np.linalg.solve(gram, rows.T @ (target * weight))
        weights = np.asarray(solved, dtype=np.float64)
        self._weights = weights
        scores: NDArray[np.float64] = rows @ weights
        self.inside_scores = np.sort(scores[: len(first)])
        self.outside_scores = np.sort(scores[len(first) :])

    @property
    def fitted(self) -> bool:
        """Whether there were enough examples in the vocabulary."""
        return self._weights is not None

    def scores(self, words: Sequence[str]) -> list[float]:
        """A score for each word of the vocabulary; 0 where the plane is not fitted."""
        if self._weights is None or not words:
            return [0.0] * len(words)
        # Row by row, so that the outcome does not depend on the other words.
        scores: list[float] = (self._features(words) * self._weights).sum(axis=1).tolist()
        return scores

    def _features(self, words: Sequence[str]) -> NDArray[np.float64]:
        features: NDArray[np.float64] = np.c_[self._neighbours.unit(words), np.ones(len(words))]
        return features


class Kinds:
    """Decides by two planes whether two words stand for the same kind of thing."""

    def __init__(self, neighbours: Neighbours) -> None:
        listed = {word for c in (*opposites(), *siblings()) for slot in c.slots for word in slot}
        self._names = Plane(neighbours, inside=names(), outside=listed - names())
        people = {
            word for c in siblings() if c.name in _PEOPLE for slot in c.slots for word in slot
        }
        things = {
            word for c in siblings() if c.name in _THINGS for slot in c.slots for word in slot
        }
        self._people = Plane(neighbours, inside=people, outside=things)
        self._listed = {word: word in people for word in people ^ things}
        # A listed common word is taken for a name with probability 2 %; a listed person
        # or thing is taken for the other with 10 % at most, and is then unclear, not wrong.
        self._name_bar = _quantile(self._names.outside_scores, 1 - _COMMON_AS_NAMES)
        self._person_bar = _quantile(self._people.outside_scores, 1 - _WRONG_SIDE)
        self._thing_bar = _quantile(self._people.inside_scores, _WRONG_SIDE)

    def names(self, words: Sequence[str]) -> frozenset[str]:
        """The words that look like names; all are in the vocabulary."""
        if not self._names.fitted:
            return frozenset()
        scores = self._names.scores(words)
        return frozenset(w for w, s in zip(words, scores, strict=True) if s > self._name_bar)

    def differ(self, original: str, others: Sequence[str]) -> frozenset[str]:
        """Those of `others` that are people where the original is a thing, or inversely.

        A listed word is what the list says; of the others, what lies between the two bars
        is unclear and never differs.
        """
        if not self._people.fitted:
            return frozenset()
        words = [original, *others]
        own, *kinds = (
            self._listed.get(word, self._person(score))
            for word, score in zip(words, self._people.scores(words), strict=True)
        )
        return frozenset(
            other
            for other, kind in zip(others, kinds, strict=True)
            if own is not None and kind is not None and kind != own
        )

    def _person(self, score: float) -> bool | None:
        low, high = sorted((self._thing_bar, self._person_bar))
        if low <= score <= high:
            return None
        return score > high


_PEOPLE = frozenset(
    {"kinship", "person", "person-form", "cleric", "office", "corporate", "rank", "force"}
    | {"legal-role", "vehicle-user", "sport-role", "medical-role", "education", "occupation"}
    | {"party-relation", "legal-status"}
)
_THINGS = frozenset(
    {"building", "disaster", "vehicle", "weapon", "attack-kind", "crime", "sport-unit", "food"}
    | {"terrain", "road", "body", "disease", "medicine", "material", "finance", "economy"}
    | {"medium", "document", "talks", "conflict", "emotion", "measure", "clothing", "plant"}
    | {"furniture", "computing", "legal-paper", "place-kind", "organisation", "body-public"}
    | {"industry", "science", "weather", "result", "phase", "motion", "exchange", "energy"}
    | {"agreement-stage", "space-trip"}
)
"""Classes of `siblings.tsv` whose members are people, and things or deeds."""


def _quantile(scores: NDArray[np.float64], share: float) -> float:
    return float(np.quantile(scores, share)) if len(scores) else 0.0


def _known(words: Collection[str], vocabulary: Container[str]) -> list[str]:
    return sorted(word for word in words if word in vocabulary)
