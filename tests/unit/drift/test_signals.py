"""Signals become numbers in [0, 1], by bounds that hold before a record is seen."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.drift.signals import MAX_KNOTS, Mapper, Scale, fit_mapper
from monitor.errors import MalformedInput


def test_a_difference_of_distances_has_its_zero_in_the_middle() -> None:
    """Excess lies in [−2, 2]; no excess is 0.5."""
    mapped = Mapper(scale=Scale.DIFFERENCE).unit(np.array([-2.0, 0.0, 1.0]))
    assert mapped.tolist() == [0.0, 0.5, 0.75]


def test_rounding_beyond_the_range_is_cut_and_a_mistake_is_refused() -> None:
    """Distances of unit vectors may exceed 2 in the last digit, lengths may not pose as HSS."""
    mapper = Mapper(scale=Scale.DISTANCE)
    assert mapper.unit(np.array([2.0 + 1e-12])).tolist() == [1.0]
    with pytest.raises(MalformedInput, match=r"values: 2\.5 lies outside \[0\.0, 2\.0\].*distance"):
        mapper.unit(np.array([2.5]))


def test_a_weighted_rank_counts_what_a_record_stands_for() -> None:
    """10 words with weight 3 hold ranks 0 … 0.75: their middle is 0.375."""
    mapper = fit_mapper(Scale.RANK, np.array([10.0, 20.0]), np.array([3.0, 1.0]))
    assert mapper.unit(np.array([10.0, 20.0])).tolist() == [0.375, 0.875]


def test_many_lengths_are_kept_as_few_knots() -> None:
    """A stored reference stays small, and its ranks stay right to a third of a percent."""
    values = np.random.default_rng(1).lognormal(5, 1, 5000)
    mapper = fit_mapper(Scale.RANK, values, np.ones(5000))
    true = np.argsort(np.argsort(values)) / 5000
    assert len(mapper.knots) == MAX_KNOTS
    assert np.abs(mapper.unit(values) - true).max() < 1 / 300
