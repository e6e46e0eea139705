"""Recognizing names by their vectors.

Most word vectors are of lower-cased text, so *bush* and *arafat* carry no sign that they
name somebody. But names lie together: a plane that is fitted between listed names and
listed common words tells them apart (least squares on unit vectors, closed form, 20 ms).
It is fitted to whatever vectors are in use, so it needs no model of its own.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.wordlists import names, opposites, siblings

_RIDGE = 1.0
_COMMON_REFUSED = 0.02
"""The share of listed common words that the plane may take for names."""
_LEAST_EXAMPLES = 50


class ProperNames:
    """Tells names from common words: score = w·v/|v| + b, a name where it is over a bar.

    The bar is set so that 2 % of the listed common words lie over it.
    """

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        vocabulary = neighbours.vocabulary
        common_words = {
            word for contrast in (*opposites(), *siblings()) for s in contrast.slots for word in s
        }
        proper = _known(names(), vocabulary)
        common = _known(common_words - names(), vocabulary)
        self._weights: NDArray[np.float64] | None = None
        self._bar = np.inf
        if min(len(proper), len(common)) < _LEAST_EXAMPLES:
            return
        positive, negative = self._features(proper), self._features(common)
        # Both classes weigh the same, however long their lists are.
        weight = np.r_[np.full(len(proper), 1 / len(proper)), np.full(len(common), 1 / len(common))]
        rows = np.r_[positive, negative]
        target = np.r_[np.ones(len(proper)), -np.ones(len(common))]
        gram = rows.T @ (rows * weight[:, None]) * len(rows) + _RIDGE * np.eye(rows.shape[1])
        self._weights = np.linalg.solve(gram, rows.T @ (target * weight) * len(rows))
        self._bar = float(np.quantile(negative @ self._weights, 1 - _COMMON_REFUSED))

    def among(self, words: Sequence[str]) -> frozenset[str]:
        """The words that look like names; all are in the vocabulary."""
        if self._weights is None or not words:
            return frozenset()
        # One row at a time in double precision: the outcome does not depend on the others.
        scores = (self._features(words) * self._weights).sum(axis=1)
        return frozenset(w for w, s in zip(words, scores.tolist(), strict=True) if s > self._bar)

    def _features(self, words: Sequence[str]) -> NDArray[np.float64]:
        features: NDArray[np.float64] = np.c_[self._neighbours.unit(words), np.ones(len(words))]
        return features


def _known(words: frozenset[str] | set[str], vocabulary: Container[str]) -> list[str]:
    return sorted(word for word in words if word in vocabulary)
