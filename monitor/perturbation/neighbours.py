"""The nearest words by cosine: where replacements come from.

One product of matrices serves all words of a document, block by block over the
vocabulary, so that a mapped matrix is read once and no copy of it is made. The best of
each block are then compared by products in double precision, pair by pair: the outcome
depends neither on which words were asked together nor on the cache.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

_BLOCK = 65_536
"""Rows of the vocabulary in one product."""
_FIRST = 4_096
_WORDS = 64
"""Words in one product: with a block, 16 MB of cosines."""
_SLACK = 1e-5
"""More than single precision can be off by: what lies closer is compared exactly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A word near another one."""

    word: str
    similarity: float
    """Cosine of the two vectors, in double precision."""


class Neighbours:
    """The `k` nearest words with cosine ≥ `tau`, most similar first; ties by vocabulary order.

    Cost of a word that is not cached: 2·n·d operations (0.5 ms for 400,000 × 50).
    """

    name: str
    """Goes into the fingerprint: size and a digest of the first thousand vectors."""

    def __init__(
        self, vectors: KeyedVectors, *, k: int = 10, tau: float = 0.6, cache_size: int = 50_000
    ) -> None:
        self._keys: Sequence[str] = vectors.index_to_key
        self._index: dict[str, int] = vectors.key_to_index
        self._matrix: NDArray[np.float32] = vectors.vectors
        self._norms = np.concatenate(
            [np.linalg.norm(block, axis=1) for _, block in self._blocks()]
            or [np.zeros(0, dtype=np.float32)]
        )
        self._inverse = np.divide(
            1.0, self._norms, out=np.zeros_like(self._norms), where=self._norms > 0
        ).astype(np.float32)
        self._k = k
        self._tau = tau
        self._cache: OrderedDict[str, tuple[Neighbour, ...]] = OrderedDict()
        self._cache_size = cache_size
        self.name = f"{len(self._keys)}x{self._matrix.shape[1]}#{self._digest()}"

    @property
    def tau(self) -> float:
        """The least cosine of a word and its replacement."""
        return self._tau

    @property
    def vocabulary(self) -> dict[str, int]:
        """Row of each word; rows go from common to rare in most files."""
        return self._index

    def of(self, words: Sequence[str]) -> dict[str, tuple[Neighbour, ...]]:
        """The neighbours of each word, without itself; every word is in the vocabulary."""
        found: dict[str, tuple[Neighbour, ...]] = {}
        missing = []
        for word in dict.fromkeys(words):
            cached = self._cache.get(word)
            if cached is None:
                missing.append(word)
            else:
                self._cache.move_to_end(word)
                found[word] = cached
        for start in range(0, len(missing), _WORDS):
            batch = missing[start : start + _WORDS]
            found.update(zip(batch, self._search(batch), strict=True))
        self._cache.update((word, found[word]) for word in missing)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)
        return found

    def similarity(self, first: str, second: str) -> float:
        """Cosine of two words of the vocabulary."""
        row = np.array([self._index[second]])
        return float(self._exact(self._index[first], row)[0])

    def unit(self, words: Sequence[str]) -> NDArray[np.float64]:
        """(n, d) vectors of words of the vocabulary, scaled to unit length."""
        rows = [self._index[word] for word in words]
        vectors = np.asarray(self._matrix[rows], dtype=np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(norms > 0, norms, 1.0)

    def _blocks(self) -> list[tuple[int, Any]]:
        count = len(self._keys)
        # A short first block raises the bar before the long ones are looked through.
        starts = [0, *range(_FIRST, count, _BLOCK)] if count > _FIRST else [0]
        ends = [*starts[1:], count]
        return [(s, self._matrix[s:e]) for s, e in zip(starts, ends, strict=True)]

    def _search(self, words: Sequence[str]) -> list[tuple[Neighbour, ...]]:
        rows = np.array([self._index[word] for word in words])
        queries = np.asarray(self._matrix[rows]) * self._inverse[rows][:, None]
        # The k-th best so far: common words come first, so later blocks add little.
        bars = np.full(len(words), self._tau - _SLACK, dtype=np.float32)
        shortlists: list[list[tuple[float, int]]] = [[] for _ in words]
        for start, block in self._blocks():
            cosines = queries @ block.T
            cosines *= self._inverse[start : start + len(block)]
            hits, columns = np.nonzero(cosines >= bars[:, None])
            for hit, column in zip(hits.tolist(), columns.tolist(), strict=True):
                shortlists[hit].append((float(cosines[hit, column]), start + column))
            for hit in np.unique(hits).tolist():
                # k neighbours and the word itself; all that might tie with the last.
                best = sorted(shortlists[hit], reverse=True)
                if len(best) > self._k + 1:
                    bar = max(bars[hit], best[self._k][0] - _SLACK)
                    shortlists[hit] = [item for item in best if item[0] >= bar]
                    bars[hit] = bar
        return [
            self._rank(row, [column for _, column in shortlist])
            for row, shortlist in zip(rows.tolist(), shortlists, strict=True)
        ]

    def _rank(self, row: int, columns: Sequence[int]) -> tuple[Neighbour, ...]:
        others = np.array(sorted(set(columns) - {row}), dtype=np.intp)
        if not len(others):
            return ()
        cosines = self._exact(row, others)
        order = np.lexsort((others, -cosines))[: self._k]
        return tuple(
            Neighbour(word=self._keys[others[i]], similarity=float(cosines[i]))
            for i in order.tolist()
            if cosines[i] >= self._tau
        )

    def _exact(self, row: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
        word = np.asarray(self._matrix[row], dtype=np.float64)
        rows = np.asarray(self._matrix[others], dtype=np.float64)
        lengths = np.sqrt((rows * rows).sum(axis=1) * (word * word).sum())
        products: NDArray[np.float64] = (rows * word).sum(axis=1)
        return products / np.where(lengths > 0, lengths, 1.0)

    def _digest(self) -> str:
        digest = hashlib.blake2b(digest_size=4)
        digest.update("\n".join(self._keys[:1000]).encode("utf-8", "replace"))
        digest.update(np.ascontiguousarray(self._matrix[:1000], dtype=np.float32).tobytes())
        return digest.hexdigest()
