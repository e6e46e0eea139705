"""Instability against scipy and against values by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import spearmanr

from monitor.attribution.instability import compare

GENERATOR = np.random.default_rng(0)


def test_equals_scipy_on_the_split_cells() -> None:
    """scipy's distance is independent; the cells are written out here once more."""
    first, second = GENERATOR.normal(size=(2, 50))
    split = [np.concatenate([v.clip(min=0), (-v).clip(min=0)]) for v in (first, second)]
    found = compare(first, second)
    assert found.signed == pytest.approx(jensenshannon(*split, base=2), abs=1e-12)
    assert found.absolute == pytest.approx(
        jensenshannon(np.abs(first), np.abs(second), base=2), abs=1e-12
    )
    assert found.one_minus_spearman == pytest.approx(1 - spearmanr(first, second)[0], abs=1e-12)


def test_identical_is_0_disjoint_and_opposite_are_1() -> None:
    """The ends of the scale."""
    phi = np.array([0.5, -0.2, 0.0, 0.1])
    assert compare(phi, phi).signed == 0.0
    assert compare(phi, -phi).signed == pytest.approx(1.0)
    assert compare(np.array([1.0, 0.0]), np.array([0.0, 1.0])).signed == pytest.approx(1.0)


def test_flipped_sign_is_invisible_to_the_absolute_form() -> None:
    """Why the signed form leads and the paper's stands beside it."""
    phi = np.array([0.5, -0.2, 0.3])
    assert compare(phi, -phi).absolute == 0.0


def test_by_hand() -> None:
    """p = (1, 0), q = (½, ½), m = (¾, ¼): KL(p ‖ m) = log₂(4/3), KL(q ‖ m) = ½ log₂(2/3) + ½."""
    found = compare(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    divergence = (np.log2(4 / 3) + np.log2(2 / 3) / 2 + 1 / 2) / 2
    assert found.signed == pytest.approx(np.sqrt(divergence), abs=1e-12)
    assert found.one_minus_cosine == pytest.approx(1 - 1 / np.sqrt(2))


def test_zero_attributions_cannot_be_compared() -> None:
    """There is no distribution to compare; 0 would read as stable."""
    assert compare(np.zeros(3), np.array([1.0, 2.0, 3.0])) is None


def test_constant_attributions_have_no_ranks() -> None:
    """Spearman's ρ is 0/0 there."""
    assert compare(np.ones(3), np.array([1.0, 2.0, 3.0])).one_minus_spearman is None
