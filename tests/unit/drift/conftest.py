"""Made-up references and studies that several tests of drift share."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from monitor.drift.fitting import fit_reference
from monitor.drift.reference import Reference


@pytest.fixture
def stable() -> Callable[..., np.ndarray]:
    """Beta(2, 8): mean 0.2, standard deviation 0.12."""

    def draw(count: int, seed: int = 1) -> np.ndarray:
        return np.random.default_rng(seed).beta(2, 8, count)

    return draw


@pytest.fixture
def clock() -> Callable[..., np.ndarray]:
    """Times of records that come ten an hour."""

    def times(count: int, start: float = 0.0, rate: float = 10.0) -> np.ndarray:
        return (start + np.arange(count) / rate) * 3600

    return times


@pytest.fixture
def reference(stable, clock) -> Reference:
    fitted = fit_reference(stable(500), clock(500), id="ref-1")
    assert isinstance(fitted, Reference)
    return fitted


@pytest.fixture(scope="session")
def studies() -> SimpleNamespace:
    """Test folders are no packages, so a file beside the tests is run, not imported."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("studies.py"))))
