"""Instability is a bounded metric of the shape of attributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from monitor.attribution.instability import compare
from monitor.attribution.partition_tree import random_tree

values = st.floats(-1e6, 1e6, allow_nan=False)
pairs = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*(arrays(np.float64, n, elements=values) for _ in range(2)))
)


@given(pairs)
def test_symmetric_and_bounded(pair: tuple[np.ndarray, np.ndarray]) -> None:
    """0 ≤ I ≤ 1 whatever the attributions, and the order does not matter."""
    first, second = compare(*pair), compare(*reversed(pair))
    assume(first is not None and second is not None)
    assert first.signed == second.signed
    assert 0 <= first.absolute <= first.signed + 1e-9 <= 1 + 1e-9
    assert 0 <= first.one_minus_cosine <= 2
    assert first.one_minus_spearman is None or 0 <= first.one_minus_spearman <= 2


@given(pairs, st.floats(1e-3, 1e3))
def test_only_the_shape_counts(pair: tuple[np.ndarray, np.ndarray], factor: float) -> None:
    """A value function that shrinks as a whole is no change of explanation."""
    phi, _ = pair
    same, opposite = compare(phi, factor * phi), compare(phi, -factor * phi)
    assume(same is not None and opposite is not None)
    assert same.signed == pytest.approx(0.0, abs=1e-6)
    assert opposite.signed == pytest.approx(1.0)


@given(pairs)
def test_missing_exactly_where_one_side_is_zero(pair: tuple[np.ndarray, np.ndarray]) -> None:
    """No distribution, no number; and a number wherever there are two."""
    assert (compare(*pair) is None) == (not all(side.any() for side in pair))


@given(st.integers(2, 400), st.integers(0, 5))
def test_tree_covers_every_player_once_in_neighbouring_stretches(players: int, seed: int) -> None:
    """What shap's partition explainer takes for granted."""
    tree = random_tree(players, np.random.default_rng(seed))
    below = [(i, i + 1) for i in range(players)]
    for left, right, height, size in tree:
        (start, middle), (again, end) = below[int(left)], below[int(right)]
        assert middle == again
        assert end - start == size
        assert 0 < height <= 1
        below.append((start, end))
    assert below[-1] == (0, players)
    assert len(tree) == players - 1
