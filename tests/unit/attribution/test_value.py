"""The budget: it is what bounds the costliest stage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from monitor.attribution.value import BudgetedValue, BudgetExceeded


@pytest.fixture
def counted(known_game: Any) -> Any:
    return known_game(lambda masks: masks @ np.array([1.0, 2.0, 4.0]), "one two three")


def test_repeated_masks_are_evaluated_once(counted: Any) -> None:
    """Partition trees and small LIME samples repeat masks."""
    value = BudgetedValue(counted, budget=2)
    masks = np.array([[True, False, True], [True, False, True], [False, False, True]])
    assert value(masks).tolist() == [5.0, 5.0, 4.0]
    assert value(masks[::-1]).tolist() == [4.0, 5.0, 5.0]
    assert (counted.seen, value.evaluations, value.remaining) == (2, 2, 0)


def test_refuses_before_anything_is_evaluated(counted: Any) -> None:
    """A batch that goes over the limit must not have cost its first half."""
    value = BudgetedValue(counted, budget=1)
    with pytest.raises(BudgetExceeded, match=r"2 more .* 1 of 1 are left"):
        value(np.eye(3, dtype=bool)[:2])
    assert counted.seen == 0


def test_separations_count_the_full_document(counted: Any) -> None:
    """The document itself is a call like any other."""
    value = BudgetedValue(counted, budget=2)
    assert value.separations(np.array([[True, False, False]])).tolist() == [6.0 / 20]
    assert value.evaluations == 2
