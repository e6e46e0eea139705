"""Nearest words by cosine."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors

from monitor.perturbation.neighbours import Neighbours


def _vectors(rows: dict[str, list[float]]) -> KeyedVectors:
    vectors = KeyedVectors(vector_size=len(next(iter(rows.values()))))
    vectors.add_vectors(list(rows), np.array(list(rows.values()), dtype=np.float32))
    return vectors


def test_neighbours_are_ranked_by_cosine_not_by_length() -> None:
    """cos(a, far) = 0.8 by hand, however long `far` is; below τ = 0.6 nothing is near."""
    near = Neighbours(_vectors({"a": [1, 0], "far": [80, 60], "b": [3, 0.1], "no": [1, 2]}))
    found = near.of(["a"])["a"]
    assert [n.word for n in found] == ["b", "far"]
    assert found[1].similarity == pytest.approx(0.8, abs=1e-7)


def test_ties_go_to_the_more_common_word() -> None:
    """Equal cosines are ordered by row, so the outcome never depends on the batch."""
    near = Neighbours(_vectors({"a": [1, 0], "x": [2, 1], "y": [4, 2], "z": [6, 3]}), k=2)
    assert [n.word for n in near.of(["a"])["a"]] == ["x", "y"]


def test_a_zero_vector_has_no_neighbours_and_is_none() -> None:
    """Its cosine is not defined; it must not become NaN."""
    near = Neighbours(_vectors({"a": [1, 0], "zero": [0, 0], "b": [1, 0]}))
    assert near.of(["zero"])["zero"] == ()
    assert [n.word for n in near.of(["a"])["a"]] == ["b"]


def test_the_same_neighbours_as_gensim_finds_one_word_at_a_time(
    vectors: KeyedVectors, neighbours: Neighbours
) -> None:
    """An independent implementation over all 400,000 words."""
    words = ["storm", "minister", "quickly", "likely", "profit", "zinni"]
    found = neighbours.of(words)
    for word in words:
        expected = [other for other, cos in vectors.most_similar(word, topn=10) if cos >= 0.6]
        assert [n.word for n in found[word]] == expected


def test_the_outcome_does_not_depend_on_batch_or_cache(vectors: KeyedVectors) -> None:
    """The bits are equal, alone or among others, cold or from the cache."""
    words = list(vectors.index_to_key[2000:2030])
    many = Neighbours(vectors)
    together = many.of(words)
    alone = Neighbours(vectors)
    assert all(alone.of([word])[word] == together[word] == many.of([word])[word] for word in words)


def test_other_vectors_have_another_name() -> None:
    """The name goes into the fingerprint of a calibration."""
    first = Neighbours(_vectors({"a": [1, 0], "b": [1, 1]}))
    second = Neighbours(_vectors({"a": [1, 0], "b": [1, 2]}))
    assert first.name != second.name
