"""A reference in a JSON column: frozen means that it comes back as it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from monitor.drift.fitting import fit_reference
from monitor.drift.reference import Reference, restore_reference
from monitor.drift.signals import Scale
from monitor.errors import MalformedInput


def test_a_reference_survives_a_json_column(stable, clock) -> None:
    """To the last bit, ranks, shares and a daily cycle included."""
    times = clock(500)
    lengths = np.round(200 + 40 * np.sin(2 * np.pi * times / 86400) + 50 * stable(500))
    fitted = fit_reference(
        lengths,
        times,
        id="ref-1",
        scale=Scale.RANK,
        probabilities=np.linspace(0.2, 1.0, 500),
        shares=np.random.default_rng(1).uniform(0.05, 0.25, 500),
    )
    assert isinstance(fitted, Reference)
    assert fitted.level.harmonics >= 1
    assert restore_reference(json.loads(json.dumps(fitted.stored()))) == fitted


def test_it_knows_the_mean_in_the_signals_own_unit(stable, clock) -> None:
    """Weighted by 1/π: (1·10 + 4·20)/5 of two kinds of records in equal numbers."""
    values = np.tile([10.0, 20.0], 250)
    fitted = fit_reference(
        values, clock(500), id="r", scale=Scale.RANK, probabilities=np.tile([1.0, 0.25], 250)
    )
    assert isinstance(fitted, Reference)
    assert fitted.mean == pytest.approx(18.0)
    assert fitted.least_probability == 0.25


def test_stakes_do_not_depend_on_records_that_come_later(stable, clock) -> None:
    """With the least π of the reference a batch of one and a batch of many stake alike."""
    fitted = fit_reference(stable(500), clock(500), id="r", probabilities=np.tile([1.0, 0.25], 250))
    assert isinstance(fitted, Reference)
    values, times = np.array([0.3, 0.3]), np.array([0.0, 1.0])
    both = fitted.observe(
        values,
        times,
        probabilities=np.array([0.5, 0.1]),
        least_probability=fitted.least_probability,
    )
    first = fitted.observe(
        values[:1],
        times[:1],
        probabilities=np.array([0.5]),
        least_probability=fitted.least_probability,
    )
    assert both.stakes[0, 0] == first.stakes[0, 0] == 0.5
    assert both.stakes[0, 1] == 1.0, "rarer than any of the reference: a full bet, not more"


def test_a_reference_of_another_version_is_refused() -> None:
    """With what to do about it."""
    with pytest.raises(MalformedInput, match=r"another version.*calibrate.*again"):
        restore_reference({"id": "r"})
