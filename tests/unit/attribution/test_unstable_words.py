"""Which words an unstable attribution is unstable by."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.attribution.unstable_words import word_instability


def test_the_words_that_lost_and_gained_weight_stand_out() -> None:
    """Half of the weight went from the first word to the third: ¼ each, of ½ in all."""
    found = word_instability([0.5, 0.5, 0.0], [[0.0, 0.5, 0.5]])
    assert found is not None
    assert found.tolist() == [0.25, 0.0, 0.25]


def test_only_the_shape_counts() -> None:
    """A value function that halves everywhere is no change, as for the instability itself."""
    found = word_instability([2.0, -1.0], [[4.0, -2.0], [1.0, -0.5]])
    assert found is not None
    assert found.tolist() == [0.0, 0.0]


def test_a_flipped_sign_is_as_far_as_can_be() -> None:
    """All of the weight changes sides: 1 in all."""
    found = word_instability([1.0, -1.0], [[-1.0, 1.0]])
    assert found is not None
    assert found.sum() == 1.0


def test_versions_are_averaged() -> None:
    """One that stays and one that moves: half of what the latter alone gives."""
    alone = word_instability([1.0, 0.0], [[0.0, 1.0]])
    both = word_instability([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])
    assert alone is not None
    assert both is not None
    assert both.tolist() == (alone / 2).tolist()


@pytest.mark.parametrize(
    ("original", "versions"), [([0.0, 0.0], [[1.0, 0.0]]), ([1.0, 0.0], [[0.0, 0.0]]), ([1.0], [])]
)
def test_what_is_zero_everywhere_compares_with_nothing(
    original: list[float], versions: list[list[float]]
) -> None:
    """Unknown, not stable."""
    assert word_instability(original, versions) is None


def test_a_version_without_weight_is_left_out() -> None:
    """The others still tell."""
    found = word_instability([1.0, 0.0], [[0.0, 0.0], [0.0, 1.0]])
    assert found is not None
    assert np.all(found == 0.5)
